package io.holdfast.verify.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Lease;
import io.holdfast.LockOptions;
import io.holdfast.engine.VerifyEngine;
import io.holdfast.engine.VerifyEngine.Rules;
import io.holdfast.verify.engine.QuietLogs;
import io.holdfast.verify.engine.SimProcess;
import io.holdfast.verify.engine.Simulation;
import io.holdfast.verify.sql.SimSqlSite.Season;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Histories in which users do what a {@link SqlBug} needs, and only the times are drawn. Whole histories of any users
 * show such a bug too seldom.
 */
@ExtendWith(QuietLogs.class)
class SqlScheduleTest {

    private static final int HISTORIES = 100;

    /** The rarest bug shows in one history of seventy. */
    private static final int HISTORIES_FOR_BUGS = 1_000;

    /** Processes over the real store, and what goes wrong between them. */
    private static final class Schedule {
        private static final long BUSY_NANOS = Duration.ofSeconds(5).toNanos();

        /** Longer than a hand-off takes, and shorter than a hold that nobody uses. */
        private static final long IDLE_NANOS = Duration.ofMillis(450).toNanos();

        final SplittableRandom random;
        private final Simulation simulation;
        private final SimSqlSite site;
        final SimProcess first;
        final SimProcess second;
        final SimProcess third;
        private boolean wrong;

        Schedule(long seed, SqlBug bug, Season season) {
            SimSqlSite[] made = new SimSqlSite[1];
            simulation = new Simulation(
                    seed, Rules.RIGHT, building -> made[0] = new SimSqlSite(building, bug, season, true));
            site = made[0];
            random = new SplittableRandom(seed);
            first = simulation.addIdleProcess();
            second = simulation.addIdleProcess();
            third = simulation.addIdleProcess();
        }

        static CompletionStage<Lease> ask(SimProcess process, LockOptions options) {
            return process.client.acquireAsync("a", options);
        }

        static CompletionStage<Lease> ask(SimProcess process) {
            return ask(process, LockOptions.defaults());
        }

        /** Asks for the lock as another process, which must not have it while this lease is valid. */
        void askBeside(SimProcess process, Lease held) {
            ask(process).thenAccept(lease -> wrong |= VerifyEngine.isHeld(held));
        }

        /** Asks for the lock, which must come soon after this instant. */
        void mustHave(SimProcess process, long freeNanos) {
            ask(process).thenAccept(lease -> wrong |= now() - freeNanos > IDLE_NANOS);
        }

        long now() {
            return simulation.world.nanoTime();
        }

        /** Two must not have the lock. */
        void mustBeAlone(Lease lease, Lease other) {
            wrong |= VerifyEngine.isHeld(lease) && VerifyEngine.isHeld(other);
        }

        void after(long fromMillis, long toMillis, Runnable what) {
            simulation.world.schedule(random.nextLong(fromMillis, toMillis) * 1_000_000, what);
        }

        /** All processes ask for a new lock at the same time, which only one may have at a time. */
        void askForNew(String name) {
            List<Lease> granted = new ArrayList<>();
            simulation.processes.forEach(process -> process.client
                    .acquireAsync(name)
                    .thenAccept(lease -> {
                        wrong |= granted.stream().anyMatch(VerifyEngine::isHeld);
                        granted.add(lease);
                        after(20, 40, lease::releaseAsync);
                    }));
        }

        /** All processes use the lock again and again, up to so long. It must not stay free for long. */
        void crowd(long mostMillis) {
            site.takeTurns();
            for (int i = 0; i < 3; i++) {
                simulation.addIdleProcess();
            }
            long[] free = {now()};
            simulation.processes.forEach(process -> use(process, free, mostMillis));
        }

        private void use(SimProcess process, long[] free, long mostMillis) {
            ask(process).thenAccept(lease -> {
                wrong |= now() - free[0] > IDLE_NANOS;
                after(0, mostMillis, () -> {
                    free[0] = now();
                    lease.releaseAsync();
                    if (now() < BUSY_NANOS) {
                        after(0, 20, () -> use(process, free, mostMillis));
                    }
                });
            });
        }

        /** Plays it. Returns whether two had the lock, or nobody for too long. */
        boolean goesWrong() {
            try {
                while (now() < BUSY_NANOS + 2_000_000_000) {
                    simulation.next();
                }
                return wrong;
            } finally {
                site.end();
            }
        }
    }

    private interface Maker {
        Schedule schedule(long seed, SqlBug bug);
    }

    private static void assertOnlyShows(SqlBug bug, Maker maker) {
        for (long seed = 1; seed <= HISTORIES; seed++) {
            assertThat(maker.schedule(seed, SqlBug.NONE).goesWrong())
                    .as("right statements, seed %d", seed)
                    .isFalse();
        }
        long seed = 1;
        while (seed <= HISTORIES_FOR_BUGS && !shows(maker.schedule(seed, bug))) {
            seed++;
        }
        System.out.println("found: " + bug + ", by seed " + seed);
        assertThat(seed).as("%s, within histories", bug).isLessThanOrEqualTo(HISTORIES_FOR_BUGS);
    }

    /** Whether it goes wrong, in the eyes of the users or of the model. */
    private static boolean shows(Schedule schedule) {
        try {
            return schedule.goesWrong();
        } catch (AssertionError e) {
            return true;
        }
    }

    /**
     * A lease is extended to a short time and released at once, so the exact setting of that time is still under way when
     * the next user of the process has the lock. Its renewal has the same number, and overtakes the setting.
     */
    @Test
    void aSettingComesAfterARenewalOfTheSameNumber() {
        assertOnlyShows(SqlBug.RENEWAL_KEEPS_ITS_NUMBER, (seed, bug) -> {
            Schedule all = new Schedule(seed, bug, Season.MIXED);
            Schedule.ask(all.first, LockOptions.defaults().holdAtMost(Duration.ofSeconds(5)))
                    .thenAccept(lease -> {
                        Schedule.ask(all.first)
                                .thenAccept(next -> all.after(0, 300, () -> all.askBeside(all.second, next)));
                        all.after(400, 650, () -> {
                            all.site.slowDown();
                            all.after(5, 10, all.site::heal);
                            lease.extendAsync(Duration.ofMillis(300));
                            lease.releaseAsync();
                        });
                    });
            return all;
        });
    }

    /**
     * A waiter behind a pooler does not hear that a standby has taken over, whose clock is ahead. It is granted the lock
     * there, and stands still before its first renewal.
     */
    @Test
    void aGrantComesFromAnotherServerThanTheStamp() {
        assertOnlyShows(SqlBug.DATED_ACROSS_SERVERS, (seed, bug) -> {
            Schedule all = new Schedule(seed, bug, Season.POOLER);
            Schedule.ask(all.first).thenAccept(lease -> {
                Schedule.ask(all.second).thenAccept(next -> {
                    all.second.time.pause(Duration.ofSeconds(3).toNanos());
                    all.askBeside(all.third, next);
                });
                all.after(20, 400, () -> all.site.switchOver(all.random.nextLong(100_000, 500_000)));
                all.after(400, 500, lease::releaseAsync);
            });
            return all;
        });
    }

    /** Waiters come, ask again and are granted the lock while another one is added to the queue. */
    @ParameterizedTest(name = "{0}")
    @EnumSource(names = {"APPEND_TO_A_SEEN_QUEUE", "APPEND_OF_A_WAITER", "APPEND_OF_THE_HOLDER"})
    void entriesAreAddedInACrowd(SqlBug bug) {
        assertOnlyShows(bug, (seed, shown) -> {
            Schedule all = new Schedule(seed, shown, Season.MIXED);
            all.crowd(60);
            return all;
        });
    }

    /**
     * Several make the row of a new lock, and one of these statements is executed again, or late, when the lock has been
     * taken. Then there are two rows. Somebody who had read the first one before it was taken may write the second one.
     */
    @ParameterizedTest(name = "{0}")
    @EnumSource(names = {"MADE_ROWS_HAVE_VERSION_1", "VERSION_OF_THE_CLIENT"})
    void aRowIsMadeTwice(SqlBug bug) {
        assertOnlyShows(bug, (seed, shown) -> {
            Schedule all = new Schedule(seed, shown, Season.MIXED);
            all.site.takeTurns();
            all.site.executeTwice();
            for (long millis = 0; millis < 4_000; millis += 200) {
                String name = "new-" + millis;
                all.after(millis, millis + 1, () -> all.askForNew(name));
            }
            return all;
        });
    }

    /** The lock of a process is released by force, and another one takes it. The first must learn of it by its renewal. */
    @Test
    void aHoldIsRenewedThatAnotherHas() {
        assertOnlyShows(SqlBug.RENEWAL_OF_ANY_HOLDER, (seed, bug) -> {
            Schedule all = new Schedule(seed, bug, Season.MIXED);
            Schedule.ask(all.first)
                    .thenAccept(lease -> all.after(0, 1_000, () -> {
                        all.site.forceRelease("a");
                        Schedule.ask(all.second)
                                .thenAccept(next -> all.after(1_000, 1_200, () -> all.mustBeAlone(next, lease)));
                    }));
            return all;
        });
    }

    /**
     * All release the lock at once. If the message of a grant comes before its commit, so does the release, which finds
     * nothing. Then nobody knows of the hold, and the next waiter waits for its end.
     */
    @Test
    void aGrantIsUsedBeforeItsCommit() {
        assertOnlyShows(SqlBug.MESSAGE_BEFORE_THE_COMMIT, (seed, bug) -> {
            Schedule all = new Schedule(seed, bug, Season.MIXED);
            all.crowd(1);
            return all;
        });
    }

    /** One process releases two locks together. Somebody waits for one of them, so a statement cannot end both. */
    @Test
    void releasesShareAStatement() {
        assertOnlyShows(SqlBug.RELEASES_MIXED_UP, (seed, bug) -> {
            Schedule all = new Schedule(seed, bug, Season.MIXED);
            Schedule.ask(all.first)
                    .thenCombine(all.first.client.acquireAsync("b"), List::of)
                    .thenAccept(leases -> {
                        long free = all.now() + 100_000_000;
                        all.mustHave(all.second, free);
                        all.after(100, 101, () -> leases.forEach(Lease::releaseAsync));
                    });
            return all;
        });
    }
}
