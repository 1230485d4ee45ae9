package io.holdfast.spring.shedlock;

import static java.util.Objects.requireNonNull;

import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.LockStoreException;
import io.holdfast.spi.Names;
import java.time.Duration;
import java.util.Optional;
import net.javacrumbs.shedlock.core.AbstractSimpleLock;
import net.javacrumbs.shedlock.core.ExtensibleLockProvider;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;

/**
 * A {@code LockProvider} of ShedLock on Holdfast, so that {@code @SchedulerLock} stays as it is:
 *
 * <pre>{@code
 * @Bean
 * LockProvider lockProvider(LockClient client) {
 *     return new HoldfastLockProvider(client, "job-lock");
 * }
 * }</pre>
 *
 * <p>{@code lockAtMostFor} is the length of the lease; {@code lockAtLeastFor} keeps the name locked at the store. The
 * lock name is {@code prefix:name}. {@code LockExtender} and {@code KeepAliveLockProvider} work. ShedLock's own
 * providers use other locks: switch all instances at once. On Redis, a client in the mode {@code commands} with an
 * empty name prefix can share the locks of ShedLock's {@code RedisLockProvider}. Then the prefix here is its key
 * prefix, a colon and its environment. A close of the client leaves the lock of a task that runs: it is free when
 * {@code lockAtMostFor} has passed. Thread-safe.
 */
public final class HoldfastLockProvider implements ExtensibleLockProvider {

    private static final System.Logger LOG = System.getLogger(HoldfastLockProvider.class.getName());

    private final LockClient client;
    private final String prefix;

    /** @throws IllegalArgumentException if the prefix is blank */
    public HoldfastLockProvider(LockClient client, String prefix) {
        this.client = requireNonNull(client, "client");
        this.prefix = LockClient.checkName(prefix);
    }

    @Override
    public Optional<SimpleLock> lock(LockConfiguration configuration) {
        LockOptions options = LockOptions.defaults()
                .waitAtMost(Duration.ZERO)
                .leaseFor(configuration.getLockAtMostFor())
                .leftAtClose(); // a close of the client does not end the task
        // Before the grant, so that a time that is counted from here is not shorter than asked for.
        long askedNanos = System.nanoTime();
        try {
            return client.tryAcquire(prefix + ":" + configuration.getName(), options)
                    .map(lease -> new HeldLock(configuration, lease, askedNanos, configuration.getLockAtLeastFor()));
        } catch (InterruptedException e) {
            // The task is skipped, and the scheduler sees the flag.
            Thread.currentThread().interrupt();
            return Optional.empty();
        }
    }

    /** The lock of a task. ShedLock allows one call of {@code unlock} or {@code extend}; the latter gives the next. */
    private static final class HeldLock extends AbstractSimpleLock {

        private final Lease lease;
        private final long askedNanos;

        /** Counted from the grant, as a lease counts it. */
        private final Duration holdAtLeast;

        HeldLock(LockConfiguration configuration, Lease lease, long askedNanos, Duration holdAtLeast) {
            super(configuration);
            this.lease = lease;
            this.askedNanos = askedNanos;
            this.holdAtLeast = holdAtLeast;
        }

        /** Returns empty if the lock is lost. ShedLock counts both times from this call. */
        @Override
        protected Optional<SimpleLock> doExtend(LockConfiguration extended) {
            Duration held = Duration.ofNanos(System.nanoTime() - askedNanos);
            try {
                lease.extend(extended.getLockAtMostFor());
            } catch (LeaseLostException e) {
                warn("could not be extended, as it is lost: " + e.getMessage());
                return Optional.empty();
            } catch (LockStoreException e) {
                // KeepAliveLockProvider tells nobody of the exception.
                warn("could not be extended: " + e.getMessage());
                throw e;
            }
            return Optional.of(new HeldLock(extended, lease, askedNanos, held.plus(extended.getLockAtLeastFor())));
        }

        @Override
        protected void doUnlock() {
            try {
                lease.releaseHoldingAtLeast(holdAtLeast);
            } catch (LeaseLostException e) {
                // ShedLock cannot report it to its caller.
                warn("ended before the task, which ran longer than its lockAtMostFor or lost it: " + e.getMessage());
            }
        }

        private void warn(String what) {
            LOG.log(
                    System.Logger.Level.WARNING,
                    "The lock of the task \"" + Names.printable(lockConfiguration.getName()) + "\" " + what);
        }
    }
}
