package io.holdfast.spring.shedlock;

import static java.util.Objects.requireNonNull;

import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.spi.Names;
import java.util.Optional;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;

/**
 * A {@link LockProvider} of ShedLock on Holdfast, so that {@code @SchedulerLock} stays as it is:
 *
 * <pre>{@code
 * @Bean
 * LockProvider lockProvider(LockClient client) {
 *     return new HoldfastLockProvider(client, "job-lock");
 * }
 * }</pre>
 *
 * <p>{@code lockAtMostFor} is the length of the lease; {@code lockAtLeastFor} keeps the name locked at the store. The
 * lock name is {@code prefix:name}. ShedLock's own providers use other locks: switch all instances at once. {@code
 * extend} is not supported. Thread-safe.
 */
public final class HoldfastLockProvider implements LockProvider {

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
        LockOptions options =
                LockOptions.defaults().waitAtMost(java.time.Duration.ZERO).leaseFor(configuration.getLockAtMostFor());
        try {
            return client.tryAcquire(prefix + ":" + configuration.getName(), options)
                    .map(lease -> () -> unlock(lease, configuration));
        } catch (InterruptedException e) {
            // The task is skipped, and the scheduler sees the flag.
            Thread.currentThread().interrupt();
            return Optional.empty();
        }
    }

    private static void unlock(Lease lease, LockConfiguration configuration) {
        try {
            lease.release(configuration.getLockAtLeastFor());
        } catch (LeaseLostException e) {
            // ShedLock cannot report it to its caller.
            LOG.log(
                    System.Logger.Level.WARNING,
                    "The task \"" + Names.printable(configuration.getName())
                            + "\" ran longer than its lockAtMostFor, or lost its lock: "
                            + e.getMessage());
        }
    }
}
