package io.holdfast.spring;

import io.holdfast.Lease;
import java.lang.reflect.Proxy;

/** Makes {@link Locked#LEASE}. */
final class NoLease {

    private NoLease() {}

    static Lease make() {
        return (Lease) Proxy.newProxyInstance(
                Lease.class.getClassLoader(), new Class<?>[] {Lease.class}, (self, method, args) -> {
                    if (method.getDeclaringClass() == Object.class) {
                        return switch (method.getName()) {
                            case "equals" -> self == args[0];
                            case "hashCode" -> System.identityHashCode(self);
                            default -> "Locked.LEASE";
                        };
                    }
                    throw new IllegalStateException("Locked.LEASE is not a lease: the method with this parameter runs"
                            + " without its lock, because it was called by this.method() or on an object without a proxy,"
                            + " or because its condition is false"
                            + " (expected: a call by another bean, or by an injected proxy of its own)");
                });
    }
}
