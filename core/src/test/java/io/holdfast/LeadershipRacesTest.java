package io.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.engine.EngineFixture;
import io.holdfast.engine.ProbeStore;
import io.holdfast.engine.Warnings;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.logging.Level;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Candidates that meet a close, an outage, a suspended machine, or a system without threads at a bad moment. */
class LeadershipRacesTest extends EngineFixture {

    private final List<Leadership> candidates = new ArrayList<>();
    private final Steps thread = new Steps();

    @AfterEach
    void close() {
        thread.exhausted = false;
        candidates.forEach(Leadership::beginClose);
        thread.runAll();
    }

    @Test
    void no_candidate_begins_while_the_client_closes() {
        lead(
                "a",
                new Told() {
                    @Override
                    public void onRevoked(Term term) {
                        super.onRevoked(term);
                        assertThatThrownBy(() -> lead("b", new Told(), Runnable::run))
                                .isInstanceOf(LockClientClosedException.class);
                        events.add("refused");
                    }
                },
                Runnable::run);
        client.close();
        assertThat(events).containsExactly("elected a", "revoked a", "refused");
    }

    @Test
    void a_client_that_was_reopened_has_candidates_again() {
        LockClient again = LockClient.connect("memory:reopened-leader");
        again.close();
        again.reopen();
        CompletableFuture<Term> elected = new CompletableFuture<>();
        again.leadership("a", elected::complete);
        assertThat(elected.join().isValid()).isTrue();
        again.close();
    }

    /** Otherwise, the next one leads before this one has been told anything. */
    @Test
    void a_client_that_a_listener_closes_keeps_the_lock_until_its_lease_ends() {
        LockClient other = client("two");
        lead(
                "a",
                new Told() {
                    @Override
                    public void onElected(Term term) {
                        super.onElected(term);
                        client.close();
                        events.add("locked " + other.inspect("leader:a").isLocked());
                    }
                },
                thread);
        thread.runAll();
        assertThat(events).containsExactly("elected a", "locked true", "revoked a");
        advance(LEASE.toMillis() + 100);
        assertThat(other.inspect("leader:a").isLocked()).isFalse();
    }

    @Test
    void a_close_waits_for_all_candidates_that_are_stuck_together() {
        CompletableFuture<Void> goOn = new CompletableFuture<>();
        LockClient real = LockClient.builder()
                .uri("memory:stuck-leaders")
                .leaseTime(Duration.ofMillis(300))
                .build();
        List<CompletableFuture<Void>> begun = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            CompletableFuture<Void> begins = new CompletableFuture<>();
            begun.add(begins);
            real.leadership("stuck" + i, term -> {
                begins.complete(null);
                goOn.join();
            });
        }
        CompletableFuture.allOf(begun.toArray(CompletableFuture<?>[]::new)).join();
        long began = System.nanoTime();
        real.close();
        // 2.1 s, or ten times as long.
        assertThat(Duration.ofNanos(System.nanoTime() - began)).isLessThan(Duration.ofSeconds(12));
        goOn.complete(null);
    }

    @Test
    void a_listener_is_not_called_for_a_term_that_is_over() {
        lead("a", new Told(), thread);
        time.stepWall(LEASE); // the machine was suspended before the thread came to it
        thread.runAll();
        assertThat(events).isEmpty();
    }

    /** Timers do not run on while a machine is suspended. */
    @Test
    void a_leader_whose_machine_was_suspended_is_revoked_within_a_second() {
        Duration lease = Duration.ofSeconds(30);
        LockClient slow = client("slow", probe("slow"), settings -> settings.leaseNanos = lease.toNanos());
        candidates.add(slow.leadership("a", new Told(), LeadershipOptions.defaults(), Runnable::run, TermRun::new));
        advance(100);
        time.stepWall(lease);
        advance(1_000);
        assertThat(events).startsWith("elected a", "revoked a");
    }

    /** A client's candidates hand the lock on without a command, so an outage does not slow them down. */
    @Test
    void candidates_of_one_client_do_not_pass_a_lease_to_and_fro_that_is_too_short_to_lead() {
        lead("a", new Told(), Runnable::run);
        lead("a", new Told(), Runnable::run);
        store.renews = ProbeStore.Fate.FAIL;
        store.acquires = ProbeStore.Fate.FAIL;
        store.releases = ProbeStore.Fate.FAIL;
        try (Warnings log = new Warnings(Level.INFO)) {
            advance(LEASE.toMillis());
            assertThat(log.said("no longer leads")).hasSizeBetween(1, 3);
        }
        assertThat(events).containsExactly("elected a", "revoked a");
        store.acquires = ProbeStore.Fate.PASS;
        store.renews = ProbeStore.Fate.PASS;
        store.releases = ProbeStore.Fate.PASS;
        advance(60_000);
        assertThat(events).containsExactly("elected a", "revoked a", "elected a");
    }

    @Test
    void a_system_without_threads_delays_the_election() {
        thread.exhausted = true;
        try (Warnings log = new Warnings()) {
            Leadership leader = lead("a", new Told(), thread);
            assertThat(leader.isLeader()).isFalse();
            assertThat(log.said("There is no thread")).hasSize(1);
        }
        assertThat(server.size()).isZero();
        thread.exhausted = false;
        advance(2_000);
        thread.runAll();
        assertThat(events).containsExactly("elected a");
    }

    @Test
    void a_system_without_threads_does_not_keep_a_candidate_from_its_end() {
        Leadership leader = lead("a", new Told(), thread);
        thread.exhausted = true;
        try (Warnings log = new Warnings()) {
            leader.beginClose();
            assertThat(log.said("There is no thread")).hasSize(1);
        }
        assertThat(leader.ended()).isCompleted();
        thread.runAll();
        assertThat(events).isEmpty();
        assertThat(server.size()).isZero();
    }

    /** So a listener that returned at once learns of a revocation, even when the system has no more threads. */
    @Tag("deep") // waits for longer than an idle thread used to stay
    @Test
    void a_leader_keeps_its_thread() throws Exception {
        try (LockClient real = LockClient.connect("memory:leaders-thread")) {
            CompletableFuture<Thread> elected = new CompletableFuture<>();
            Leadership leader = real.leadership("a", term -> elected.complete(Thread.currentThread()));
            Thread its = elected.join();
            Thread.sleep(12_000);
            assertThat(its.isAlive()).isTrue();
            leader.close();
            its.join(20_000);
            assertThat(its.isAlive()).isFalse();
        }
    }

    @Test
    void an_interrupt_that_a_listener_leaves_is_not_there_in_its_next_call() {
        List<Boolean> interrupted = new ArrayList<>();
        Leadership leader = lead(
                "a",
                new Told() {
                    @Override
                    public void onElected(Term term) {
                        interrupted.add(Thread.currentThread().isInterrupted());
                        Thread.currentThread().interrupt();
                    }

                    @Override
                    public void onRevoked(Term term) {
                        interrupted.add(Thread.currentThread().isInterrupted());
                        Thread.currentThread().interrupt();
                    }
                },
                thread);
        thread.runAll();
        leader.resign();
        thread.runAll();
        assertThat(interrupted).containsExactly(false, false, false);
    }

    private Leadership lead(String name, LeadershipListener listener, Executor by) {
        Leadership made = client.leadership(name, listener, LeadershipOptions.defaults(), by, TermRun::new);
        candidates.add(made);
        return made;
    }

    private class Told implements LeadershipListener {

        @Override
        public void onElected(Term term) {
            events.add("elected " + term.leadership());
        }

        @Override
        public void onRevoked(Term term) {
            events.add("revoked " + term.leadership());
        }
    }

    /** A thread that runs when the test says. */
    private static final class Steps implements Executor {

        private final Queue<Runnable> tasks = new ArrayDeque<>();

        /** Whether the system has no more threads. */
        boolean exhausted;

        @Override
        public void execute(Runnable task) {
            if (exhausted) {
                throw new Error("unable to create native thread");
            }
            tasks.add(task);
        }

        void runAll() {
            for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
                task.run();
            }
        }
    }
}
