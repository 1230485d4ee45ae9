package io.holdfast.spring;

import io.holdfast.LockOptions;
import java.time.Duration;
import java.util.Optional;

/**
 * What holds for {@link Locked} methods that do not say otherwise. A bean of this type replaces {@link #standard()}; Spring
 * Boot makes one of the {@code holdfast.*} properties.
 *
 * @param waitTime how long to wait; empty: as long as needed
 * @param options for all acquisitions; wait and lease times in it are not used
 */
public record LockedDefaults(Optional<Duration> waitTime, LockOptions options) {

    /** Wait for 10 seconds. */
    public static LockedDefaults standard() {
        return new LockedDefaults(Optional.of(Duration.ofSeconds(10)), LockOptions.defaults());
    }
}
