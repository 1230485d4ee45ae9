package io.holdfast.bench.harness;

import java.time.Duration;
import java.util.List;

/**
 * The extent of the measurement.
 *
 * @param rounds of each cell, the peers interleaved within each
 * @param warmUp before each window
 * @param firstWarmUp before the first window of a number of processes in a case; longer for more processes
 * @param jvms numbers of processes
 * @param rivals peers in addition to those that the goals need
 */
public record Profile(
        String name,
        int rounds,
        Duration firstWarmUp,
        Duration warmUp,
        Duration window,
        List<Integer> jvms,
        List<Integer> crowdedJvms,
        int held,
        Duration churn,
        List<String> rivals) {

    /** Returns a profile for less than five minutes. */
    public static final Profile SHORT = new Profile(
            "short",
            1,
            Duration.ofMillis(3_000),
            Duration.ofMillis(1_000),
            Duration.ofMillis(1_500),
            List.of(2, 8),
            List.of(8),
            10_000,
            Duration.ofSeconds(5),
            List.of());

    public static final Profile FULL = new Profile(
            "full",
            5,
            Duration.ofMillis(9_000),
            Duration.ofMillis(1_500),
            Duration.ofMillis(2_500),
            List.of(2, 4, 8, 16),
            List.of(2, 4, 8),
            10_000,
            Duration.ofSeconds(60),
            List.of("redisson-fair", "redisson-spin", "spring-pubsub", "lock4j"));

    /** Returns a profile for the test of the harness; its figures have no meaning. */
    public static final Profile SMOKE = new Profile(
            "smoke",
            1,
            Duration.ofMillis(100),
            Duration.ofMillis(100),
            Duration.ofMillis(200),
            List.of(2),
            List.of(2),
            20,
            Duration.ofSeconds(1),
            List.of());

    /** Returns the profile with another number of rounds. */
    Profile withRounds(int other) {
        if (other < 1 || other > 100) {
            throw new IllegalArgumentException("rounds: " + other + " (expected: 1 to 100)");
        }
        return new Profile(name, other, firstWarmUp, warmUp, window, jvms, crowdedJvms, held, churn, rivals);
    }

    boolean isShort() {
        return rivals.isEmpty();
    }

    public static Profile of(String name) {
        return switch (name) {
            case "short" -> SHORT;
            case "full" -> FULL;
            default -> throw new IllegalArgumentException("profile: " + name + " (expected: short or full)");
        };
    }
}
