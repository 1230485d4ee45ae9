package io.holdfast.redis.connect;

/** How the driver resolves the names of hosts: Lettuce 7 asks name servers itself, Lettuce 6 only if it is given what that takes. */
public final class HostNames {

    private static final boolean WITHOUT_BLOCKING = DriverClasses.has("io.netty.resolver.dns.DnsAddressResolverGroup");

    private HostNames() {}

    /** Whether an I/O thread goes on meanwhile. */
    static boolean resolvedWithoutBlocking() {
        return WITHOUT_BLOCKING;
    }
}
