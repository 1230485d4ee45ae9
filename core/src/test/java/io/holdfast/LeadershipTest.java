package io.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.engine.EngineFixture;
import io.holdfast.engine.ProbeStore;
import io.holdfast.engine.Warnings;
import io.holdfast.spi.StoreException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Executor;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A candidate under virtual time. Its thread runs when the test says, or at once. */
class LeadershipTest extends EngineFixture {

    /** A third of {@link #LEASE}. */
    private static final long STOP_MILLIS = 1_000;

    private final List<Leadership> candidates = new ArrayList<>();

    @AfterEach
    void close() {
        candidates.forEach(Leadership::beginClose);
    }

    @Test
    void elected_and_revoked_alternate_and_tokens_grow() {
        Recorder one = new Recorder("one");
        Leadership first = lead(client, one, Runnable::run);
        Recorder two = new Recorder("two");
        Leadership second = lead(client("two"), two, Runnable::run);

        assertThat(first.isLeader()).isTrue();
        assertThat(second.isLeader()).isFalse();
        first.resign();
        assertThat(first.isLeader()).isFalse();
        advance(1);
        assertThat(second.isLeader()).isTrue();
        second.resign();
        advance(1);
        assertThat(first.isLeader()).isTrue();

        assertThat(events).containsExactly("one elected", "one revoked", "two elected", "two revoked", "one elected");
        assertThat(one.tokens.get(0)).isLessThan(two.tokens.get(0));
        assertThat(two.tokens.get(0)).isLessThan(one.tokens.get(1));
    }

    /** A store that hands the lock on gives it three polls of time, which is less than the time to stop. */
    @Test
    void a_leader_to_whom_the_lock_is_handed_on_leads_as_soon_as_its_lease_is_long_enough() {
        Leadership first = lead(client, new Recorder("one"), Runnable::run);
        ProbeStore behind = probe("two");
        behind.details = true;
        LockClient longLease = client("two", behind, settings -> settings.leaseNanos = 30_000_000_000L);
        Leadership second = lead(longLease, new Recorder("two"), Runnable::run);
        first.resign();
        advance(1);
        assertThat(second.isLeader()).isTrue();
        assertThat(events).containsExactly("one elected", "one revoked", "two elected");
        advance(60_000);
        assertThat(second.isLeader()).isTrue();
    }

    @Test
    void a_leader_leads_for_as_long_as_its_lease_is_renewed() {
        Leadership leader = lead(client, new Recorder("one"), Runnable::run);
        advance(60_000);
        assertThat(leader.isLeader()).isTrue();
        assertThat(events).containsExactly("one elected");
    }

    @Test
    void a_term_is_revoked_while_there_is_time_to_stop() {
        List<Long> left = new ArrayList<>();
        LeadershipListener listener = new LeadershipListener() {
            @Override
            public void onElected(Term term) {}

            @Override
            public void onRevoked(Term term) {
                left.add(term.remaining().toMillis());
            }
        };
        Leadership leader =
                keep(client.leadership("a", listener, LeadershipOptions.defaults(), Runnable::run, TermRun::new));
        store.renews = ProbeStore.Fate.FAIL;
        store.acquires = ProbeStore.Fate.FAIL;
        advance(LEASE.toMillis() - STOP_MILLIS - 200);
        assertThat(leader.isLeader()).isTrue();
        advance(300);
        assertThat(leader.isLeader()).isFalse();
        assertThat(left).hasSize(1);
        assertThat(left.get(0)).isBetween(STOP_MILLIS - 50, STOP_MILLIS);
    }

    @Test
    void a_renewal_that_comes_after_the_revocation_does_not_take_it_back() {
        Steps thread = new Steps();
        Leadership leader = lead(client, new Recorder("one"), thread);
        thread.runAll();
        store.renews = ProbeStore.Fate.FAIL;
        advance(LEASE.toMillis() - STOP_MILLIS + 10);
        assertThat(leader.isLeader()).isFalse();
        store.renews = ProbeStore.Fate.PASS;
        advance(500);
        assertThat(leader.isLeader()).isFalse();
        thread.runAll();
        assertThat(events).startsWith("one elected", "one revoked");
    }

    @Test
    void a_lost_lease_revokes_at_once() {
        Leadership leader = lead(client, new Recorder("one"), Runnable::run);
        assertThat(client.forceRelease("leader:a")).isTrue();
        assertThat(events.subList(0, 2)).containsExactly("one elected", "one revoked");
        assertThat(leader.isLeader()).isTrue(); // again, as nobody else campaigns
    }

    @Test
    void a_listener_that_does_not_stop_loses_the_lock_and_leads_no_more_until_it_does() {
        Steps thread = new Steps();
        Leadership stuck = lead(client, new Recorder("one"), thread);
        Leadership next = lead(client("two"), new Recorder("two"), Runnable::run);
        try (Warnings warnings = new Warnings()) {
            stuck.resign();
            advance(STOP_MILLIS - 10);
            assertThat(next.isLeader()).isFalse();
            advance(20);
            assertThat(next.isLeader()).isTrue();
            assertThat(warnings.said("has not stopped"))
                    .singleElement()
                    .asString()
                    .contains("has not stopped within 1 s");
        }
        next.close();
        advance(60_000);
        assertThat(stuck.isLeader()).isFalse();
        thread.runAll();
        assertThat(stuck.isLeader()).isTrue();
    }

    @Test
    void a_term_that_is_revoked_before_the_listener_began_calls_nothing() {
        Steps thread = new Steps();
        Leadership leader = lead(client, new Recorder("one"), thread);
        leader.beginClose();
        thread.runAll();
        assertThat(events).isEmpty();
        assertThat(leader.ended()).isCompleted();
        assertThat(server.size()).isZero();
    }

    /** Each alone would be waited for during 2 seconds and its time to stop. */
    @Test
    void stuck_listeners_are_waited_for_together() {
        LeadershipOptions options = LeadershipOptions.defaults().stopWithin(Duration.ofMillis(100));
        for (int i = 0; i < 8; i++) {
            keep(client.leadership("stuck-" + i, new Recorder("one"), options, new Steps(), TermRun::new));
        }
        assertThat(client.leaderships()).hasSize(8);
        long began = System.nanoTime();
        client.close();
        assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(Duration.ofSeconds(12));
    }

    @Test
    void a_client_lists_the_candidates_that_are_not_closed() {
        Leadership leader = lead(client, new Recorder("one"), Runnable::run);
        assertThat(client.leaderships()).containsExactly(leader);
        leader.close();
        assertThat(client.leaderships()).isEmpty();
    }

    @Test
    void a_failing_listener_gives_others_their_turn_and_pauses_longer_each_time() {
        List<Long> elections = new ArrayList<>();
        keep(client.leadership(
                "a",
                term -> {
                    elections.add(time.nanoTime());
                    throw new IllegalStateException("cannot lead");
                },
                LeadershipOptions.defaults(),
                Runnable::run,
                TermRun::new));
        advance(120_000);
        List<Long> pauses = new ArrayList<>();
        for (int i = 1; i < elections.size(); i++) {
            pauses.add((elections.get(i) - elections.get(i - 1)) / 1_000_000);
        }
        assertThat(pauses.get(0)).isBetween(750L, 1_000L);
        assertThat(pauses.get(1)).isBetween(1_500L, 2_000L);
        assertThat(pauses.get(4)).isBetween(12_000L, 16_000L);
        assertThat(pauses).allMatch(pause -> pause <= 60_000);
    }

    @Test
    void a_campaign_outlives_a_store_that_fails() {
        store.acquires = ProbeStore.Fate.FAIL;
        store.failure = new StoreException(StoreException.Outcome.FATAL, "store: refused", null);
        Leadership leader = lead(client, new Recorder("one"), Runnable::run);
        advance(20_000);
        assertThat(leader.isLeader()).isFalse();
        store.acquires = ProbeStore.Fate.PASS;
        advance(60_000);
        assertThat(leader.isLeader()).isTrue();
    }

    @Test
    void a_client_that_closes_revokes_its_leaders_before_their_locks_are_free() {
        List<Boolean> valid = new ArrayList<>();
        LeadershipListener listener = new LeadershipListener() {
            @Override
            public void onElected(Term term) {}

            @Override
            public void onRevoked(Term term) {
                valid.add(term.isValid());
            }
        };
        keep(client.leadership("a", listener, LeadershipOptions.defaults(), Runnable::run, TermRun::new));
        keep(client.leadership("b", listener, LeadershipOptions.defaults(), Runnable::run, TermRun::new));
        client.close();
        assertThat(valid).containsExactly(true, true);
        assertThat(server.size()).isZero();
        assertThatThrownBy(() -> client.leadership("a", term -> {})).isInstanceOf(LockClientClosedException.class);
    }

    @Test
    void a_candidate_that_is_closed_in_a_pause_or_a_campaign_campaigns_no_more() {
        Leadership leader = lead(client, new Recorder("one"), Runnable::run);
        Leadership waiting = lead(client("two"), new Recorder("two"), Runnable::run);
        waiting.close();
        assertThat(waiting.ended()).isCompleted();
        store.acquires = ProbeStore.Fate.FAIL;
        store.failure = new StoreException(StoreException.Outcome.FATAL, "store: refused", null);
        leader.resign();
        advance(10);
        leader.close();
        assertThat(leader.ended()).isCompleted();
        store.acquires = ProbeStore.Fate.PASS;
        advance(60_000);
        assertThat(events).containsExactly("one elected", "one revoked");
    }

    @Test
    void a_call_that_works_is_interrupted_and_may_close_the_candidate() throws Exception {
        try (LockClient real = LockClient.connect("memory:leadership")) {
            List<String> seen = new ArrayList<>();
            Leadership[] self = new Leadership[1];
            Leadership leader = real.leadership("a", new LeadershipListener() {
                @Override
                public void onElected(Term term) throws InterruptedException {
                    try {
                        Thread.sleep(60_000);
                    } finally {
                        seen.add("interrupted");
                    }
                }

                @Override
                public void onRevoked(Term term) {
                    self[0].close();
                    seen.add("revoked " + Thread.currentThread().isInterrupted());
                }
            });
            self[0] = leader;
            while (!leader.isLeader()) {
                Thread.sleep(1);
            }
            Thread.sleep(50);
            leader.close();
            assertThat(seen).containsExactly("interrupted", "revoked false");
            assertThat(real.inspect("leader:a").isLocked()).isFalse();
        }
    }

    @Test
    void listeners_of_the_client_hear_of_each_candidate_and_each_term() {
        LockClient heard = client(
                "heard",
                probe("heard"),
                settings -> settings.listeners = List.of(new LockListener() {
                    @Override
                    public void candidacyBegan(String leadership) {
                        events.add("campaigns for " + leadership);
                    }

                    @Override
                    public void elected(String leadership, long fencingToken) {
                        events.add("term of " + leadership + " began");
                    }

                    @Override
                    public void termEnded(String leadership, long fencingToken, Duration led, boolean stoppedInTime) {
                        events.add("term of " + leadership + " ended after " + led.toMillis() + ", in time: "
                                + stoppedInTime);
                    }
                }));
        Steps thread = new Steps();
        Leadership leader = lead(heard, new Recorder("one"), thread);
        thread.runAll();
        advance(5_000);
        leader.resign();
        advance(STOP_MILLIS);
        thread.runAll();
        advance(100);
        leader.beginClose();
        thread.runAll();

        assertThat(events)
                .containsExactly(
                        "campaigns for a",
                        "term of a began",
                        "one elected",
                        "term of a ended after 6000, in time: false",
                        "one revoked",
                        "term of a began",
                        "one elected",
                        "one revoked",
                        "term of a ended after 100, in time: true");
    }

    @Test
    void a_term_that_called_nothing_is_no_event() {
        LockClient heard = client(
                "heard",
                probe("heard"),
                settings -> settings.listeners = List.of(new LockListener() {
                    @Override
                    public void elected(String leadership, long fencingToken) {
                        events.add("term began");
                    }

                    @Override
                    public void termEnded(String leadership, long fencingToken, Duration led, boolean stoppedInTime) {
                        events.add("term ended");
                    }
                }));
        Steps thread = new Steps();
        Leadership leader = lead(heard, new Recorder("one"), thread);
        leader.beginClose();
        thread.runAll();
        assertThat(leader.ended()).isCompleted();
        assertThat(events).isEmpty();
    }

    @Test
    void a_client_lists_its_candidates_until_they_are_closed() {
        Leadership b =
                keep(client.leadership("b", term -> {}, LeadershipOptions.defaults(), Runnable::run, TermRun::new));
        Leadership a = lead(client, new Recorder("one"), Runnable::run);
        assertThat(client.leaderships()).containsExactly(a, b);
        a.close();
        assertThat(client.leaderships()).containsExactly(b);
        assertThat(client("two").leaderships()).isEmpty();
    }

    @Test
    void bad_input_is_refused_before_anything_is_sent() {
        Duration tooLong = LEASE.dividedBy(2);
        assertThatThrownBy(() -> client.leadership(
                        "a", term -> {}, LeadershipOptions.defaults().stopWithin(tooLong)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("stopWithin: 1.5 s (expected: at most 1 s, a third of the client's lease time, or a longer"
                        + " leaseTime)");
        assertThatThrownBy(() -> LeadershipOptions.defaults().stopWithin(Duration.ZERO))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("stopWithin: 0");
        assertThatThrownBy(() -> client.leadership("\ud800", term -> {})).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> client.leadership(" ", term -> {}))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("not blank");
        assertThat(store.commands).isEmpty();
    }

    private Leadership lead(LockClient by, LeadershipListener listener, Executor thread) {
        return keep(by.leadership("a", listener, LeadershipOptions.defaults(), thread, TermRun::new));
    }

    private Leadership keep(Leadership made) {
        candidates.add(made);
        return made;
    }

    private final class Recorder implements LeadershipListener {

        final List<Long> tokens = new ArrayList<>();
        private final String id;

        Recorder(String id) {
            this.id = id;
        }

        @Override
        public void onElected(Term term) {
            term.ensureValid();
            tokens.add(term.fencingToken());
            events.add(id + " elected");
        }

        @Override
        public void onRevoked(Term term) {
            events.add(id + " revoked");
        }
    }

    /** A thread that runs when the test says. */
    private static final class Steps implements Executor {

        private final Queue<Runnable> tasks = new ArrayDeque<>();

        @Override
        public void execute(Runnable task) {
            tasks.add(task);
        }

        void runAll() {
            for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
                task.run();
            }
        }
    }
}
