package io.holdfast.redis.connect;

import io.holdfast.spi.StoreException;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.MaintNotificationsConfig;

/** Hides the differences between Lettuce 7 and Lettuce 6, which applications on Spring Boot 3.5 have. */
final class DriverVersion {

    private static final boolean HAS_DNS = has("io.netty.resolver.dns.DnsAddressResolverGroup");
    private static final boolean HAS_MAINT_NOTIFICATIONS = has("io.lettuce.core.MaintNotificationsConfig");

    private DriverVersion() {}

    /**
     * Refuses a driver that cannot be kept from sending commands again by itself, which Lettuce before 6.6 cannot.
     *
     * @param options are changed
     * @throws StoreException if Lettuce is too old
     */
    static void requireReplayFilter(ClientOptions.Builder options) {
        try {
            options.replayFilter(command -> true);
        } catch (NoSuchMethodError e) {
            // Not as the cause: Spring Boot would explain that one, and show its text instead of this.
            throw new StoreException(
                    StoreException.Outcome.FATAL,
                    "Lettuce, the driver of Redis, is older than 6.6 here (expected: 6.6 or newer; with Spring Boot 3.4"
                            + " or older, set the property lettuce.version=6.6.0.RELEASE in the build)",
                    null);
        }
    }

    /**
     * Returns whether an I/O thread continues while a host name is resolved: Lettuce 7 asks name servers itself,
     * Lettuce 6 only with {@code netty-resolver-dns} on the class path.
     */
    static boolean resolvesNamesWithoutBlocking() {
        return HAS_DNS;
    }

    /**
     * Keeps the driver from asking a server for notices of its maintenance and from following them to another address:
     * the store itself decides which server it talks to, and when it gives up a connection. Lettuce 6 knows no such
     * notices.
     */
    static void disableMaintNotifications(ClientOptions.Builder options) {
        if (HAS_MAINT_NOTIFICATIONS) {
            OfLettuce7.disableMaintNotifications(options);
        }
    }

    /** Names a class that Lettuce 6 does not have, so it is loaded only where that class exists. */
    private static final class OfLettuce7 {

        static void disableMaintNotifications(ClientOptions.Builder options) {
            options.maintNotificationsConfig(MaintNotificationsConfig.disabled());
        }
    }

    /** Returns whether a class exists. Does not initialize it. */
    private static boolean has(String name) {
        try {
            Class.forName(name, false, DriverVersion.class.getClassLoader());
            return true;
        } catch (ClassNotFoundException missing) {
            return false;
        }
    }
}
