package io.holdfast.spring.test;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockState;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;

/**
 * Inspects locks in tests, holds them elsewhere, and makes leases lost. A bean. All contexts of a JVM share one memory
 * store, so two contexts are two instances of the application.
 *
 * <pre>{@code
 * @Autowired LockTester locks;
 *
 * try (Lease elsewhere = locks.holdElsewhere("order.refund:42")) {
 *     assertThrows(LockTimeoutException.class, () -> refunds.refund(42));
 * }
 * }</pre>
 *
 * <p>Thread-safe.
 */
public final class LockTester implements AutoCloseable {

    private static final Duration NOTICE_WITHIN = Duration.ofSeconds(3);

    private final LockClient application;
    private final LockClient other;

    LockTester(LockClient application, LockClient other) {
        this.application = application;
        this.other = other;
    }

    /** Returns whether the name is held, here or elsewhere. */
    public boolean isHeld(String name) {
        return application.inspect(name).isLocked();
    }

    /** Returns whether this application holds the name by a valid lease. */
    public boolean isHeldHere(String name) {
        return leaseHere(name).map(Lease::isValid).orElse(false);
    }

    /**
     * Fails unless this application holds the name.
     *
     * @throws AssertionError if it does not
     */
    public void assertHeldHere(String name) {
        if (!isHeldHere(name)) {
            throw new AssertionError(
                    "The lock \"" + name + "\" is not held here; the store says: " + application.inspect(name));
        }
    }

    /**
     * Fails if the name is held, here or elsewhere.
     *
     * @throws AssertionError if it is held
     */
    public void assertFree(String name) {
        LockState state = application.inspect(name);
        if (state.isLocked()) {
            throw new AssertionError("The lock \"" + name + "\" is not free: " + state);
        }
    }

    /**
     * Acquires the name as another instance would, until the lease is closed.
     *
     * @throws IllegalStateException if it is held already; or if the application's client is one that the application
     *     made itself, on another store than that of the tests: nobody would be kept out there
     */
    public Lease holdElsewhere(String name) {
        Lease lease = other.tryAcquire(name)
                .orElseThrow(() -> new IllegalStateException("The lock \"" + name + "\" is held already"));
        if (!application.inspect(name).isLocked()) {
            lease.close();
            throw new IllegalStateException("The LockClient of the application is on " + application.describeStore()
                    + ", not on the store of the tests (expected: the client that Holdfast configures, or one of"
                    + " your own"
                    + " that is not made in tests)");
        }
        return lease;
    }

    /**
     * Makes this application lose its lease on the name. Returns when the application has noticed, or after three
     * seconds: a lease of a fixed length ({@code leaseTime}) is not renewed, so its owner notices the loss only
     * at the release.
     *
     * @throws IllegalStateException if this application does not hold the name
     */
    public void lose(String name) {
        Lease lease = leaseHere(name)
                .orElseThrow(() -> new IllegalStateException("The lock \"" + name + "\" is not held here"));
        application.forceRelease(name);
        long end = System.nanoTime() + NOTICE_WITHIN.toNanos();
        while (lease.isValid() && System.nanoTime() - end < 0) {
            LockSupport.parkNanos(1_000_000);
        }
    }

    @Override
    public void close() {
        other.close();
    }

    private Optional<Lease> leaseHere(String name) {
        return application.localLocks().stream()
                .filter(lock -> lock.name().equals(name))
                .findFirst()
                .flatMap(lock -> lock.lease());
    }
}
