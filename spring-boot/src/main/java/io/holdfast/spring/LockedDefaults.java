package io.holdfast.spring;

import io.holdfast.LockOptions;
import java.time.Duration;
import java.util.Optional;

/**
 * The defaults of {@link Locked} and {@link Limited} methods. A bean of this type replaces {@link #standard()}; Spring
 * Boot makes one from the {@code holdfast.*} properties.
 *
 * <pre>{@code
 * @Bean
 * LockedDefaults lockedDefaults() {
 *     return new LockedDefaults(Optional.of(Duration.ofSeconds(3)), LockOptions.defaults().fair());
 * }
 * }</pre>
 *
 * @param waitTime the longest wait; empty: no limit
 * @param options fairness and tenure of all acquisitions; the times in it are not used
 * @param outerTransaction what happens inside a transaction whose reads may be older than the lock
 */
public record LockedDefaults(Optional<Duration> waitTime, LockOptions options, OuterTransaction outerTransaction) {

    /** Creates defaults that warn of an outer transaction. */
    public LockedDefaults(Optional<Duration> waitTime, LockOptions options) {
        this(waitTime, options, OuterTransaction.WARN);
    }

    /** Returns the defaults without settings: a wait of 10 seconds. */
    public static LockedDefaults standard() {
        return new LockedDefaults(Optional.of(Duration.ofSeconds(10)), LockOptions.defaults());
    }
}
