package io.holdfast;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.spi.TimeSource;
import java.util.Optional;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * The real engine under virtual time, many histories.
 *
 * <p>{@code -Dholdfast.seeds=N} plays N of them; {@code -Dseed=N} plays one again and prints it.
 */
class SimulationTest {

    private static final long SEEDS = Long.getLong("holdfast.seeds", 1_000);

    /** Within so many histories a seeded bug must be found. */
    private static final long SEEDS_FOR_BUGS = 300;

    /** A bad network is all that these warnings are about. Held, because loggers are collected otherwise. */
    private static final Logger LOG = Logger.getLogger(LockClient.class.getName());

    @BeforeAll
    static void quiet() {
        LOG.setLevel(Level.OFF);
    }

    @AfterAll
    static void loud() {
        LOG.setLevel(null);
    }

    @Test
    void histories_without_a_violation() {
        Long one = Long.getLong("seed");
        if (one != null) {
            play(one);
            return;
        }
        long began = System.nanoTime();
        long grants = 0;
        long losses = 0;
        long timeouts = 0;
        long errors = 0;
        for (long seed = 1; seed <= SEEDS; seed++) {
            Simulation.Result result = new Simulation(seed, new LeaseRules()).run();
            grants += result.grants();
            losses += result.losses();
            timeouts += result.timeouts();
            errors += result.errors();
        }
        System.out.printf(
                "%d histories in %.1f s: %d grants, %d leases lost, %d waits timed out, %d failed or cancelled%n",
                SEEDS, (System.nanoTime() - began) / 1e9, grants, losses, timeouts, errors);
        // A run that never got far enough to break a rule proves nothing.
        assertThat(grants).isGreaterThan(50 * SEEDS);
        assertThat(losses).isPositive();
        assertThat(timeouts).isPositive();
    }

    @Test
    void the_same_seed_is_the_same_history() {
        Simulation first = new Simulation(7, new LeaseRules());
        Simulation second = new Simulation(7, new LeaseRules());
        first.run();
        second.run();
        assertThat(second.timeline()).isEqualTo(first.timeline());
    }

    @Test
    void finds_a_validity_that_is_counted_from_the_reply_instead_of_the_send() {
        assertThat(firstSeedThatFails(new LeaseRules() {
                    @Override
                    Deadline deadline(Sent sent, Sent replied, long leaseNanos) {
                        return super.deadline(replied, replied, leaseNanos);
                    }
                }))
                .isPresent();
    }

    @Test
    void finds_a_pushed_grant_that_is_counted_from_the_arrival_of_its_message() {
        assertThat(firstSeedThatFails(new LeaseRules() {
                    @Override
                    Deadline pushedDeadline(Sent asked, long sinceAskingNanos, Sent heard, long leaseNanos) {
                        return deadline(heard, heard, leaseNanos);
                    }
                }))
                .isPresent();
    }

    @Test
    void finds_a_renewal_that_is_accepted_after_the_old_deadline() {
        assertThat(firstSeedThatFails(new LeaseRules() {
                    @Override
                    boolean renewalCounts(Deadline old, TimeSource time) {
                        return true;
                    }
                }))
                .isPresent();
    }

    private static Optional<String> firstSeedThatFails(LeaseRules bug) {
        return LongStream.rangeClosed(1, SEEDS_FOR_BUGS)
                .mapToObj(seed -> failure(seed, bug))
                .flatMap(Optional::stream)
                .findFirst();
    }

    private static Optional<String> failure(long seed, LeaseRules bug) {
        try {
            new Simulation(seed, bug).run();
            return Optional.empty();
        } catch (AssertionError e) {
            System.out.println("found by seed " + seed + ": "
                    + String.valueOf(e.getMessage()).lines().findFirst().orElse(""));
            return Optional.of(String.valueOf(e.getMessage()));
        }
    }

    private static void play(long seed) {
        Simulation simulation = new Simulation(seed, new LeaseRules());
        try {
            simulation.run();
        } finally {
            simulation.timeline().forEach(System.out::println);
        }
    }
}
