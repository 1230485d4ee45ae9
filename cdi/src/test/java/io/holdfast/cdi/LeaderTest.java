package io.holdfast.cdi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.LeaseLostException;
import io.holdfast.LockClient;
import io.holdfast.Term;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.context.Dependent;
import jakarta.enterprise.inject.se.SeContainer;
import jakarta.inject.Inject;
import jakarta.transaction.Transactional;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Methods of a leader: where they run, what a skipped call returns, and how a revocation ends them. */
@Timeout(120)
class LeaderTest {

    private static final Duration LONG = Duration.ofSeconds(60);

    @ApplicationScoped
    static class Work {

        @Inject
        Leaderships leaderships;

        @Inject
        LockClient locks;

        private static final CountDownLatch inside = new CountDownLatch(2);

        @Leader("work")
        @Nullable
        String text() {
            return "text";
        }

        @Leader("work")
        Optional<String> optional() {
            return Optional.of("text");
        }

        @Leader("work")
        CompletionStage<@Nullable String> stage() {
            inside.countDown();
            return new CompletableFuture<>();
        }

        @Leader("work")
        @Nullable
        Term term(String before, @Nullable Term term) {
            assertThat(leaderships.term("work").orElseThrow().fencingToken()).isEqualTo(term.fencingToken());
            return term;
        }

        @Leader("work")
        @Locked(name = "other", waitTime = "0")
        @Nullable
        String underLock() {
            return "locked";
        }

        @Leader("work")
        void waits() throws InterruptedException {
            inside.countDown();
            assertThat(new CountDownLatch(1).await(60, TimeUnit.SECONDS)).isTrue();
        }

        @Leader("work")
        @Transactional
        void loses() {
            assertThat(locks.forceRelease("leader:work")).isTrue();
            await().atMost(LONG).until(() -> leaderships.term("work").isEmpty());
            // The revocation interrupts the method.
            Thread.interrupted();
        }
    }

    private static SeContainer start(String store) {
        return Containers.start(
                store, Work.class, OrderTest.Transactions.class, OrderTest.TransactionalInterceptor.class);
    }

    private static Work leading(SeContainer container) {
        Leaderships all = container.select(Leaderships.class).get();
        await().atMost(LONG).until(() -> all.term("work").isPresent());
        return container.select(Work.class).get();
    }

    @Test
    void runs_where_this_process_leads_and_is_skipped_elsewhere() throws Exception {
        SeContainer first = start("memory:leader");
        Work leads = leading(first);
        try (SeContainer second = start("memory:leader")) {
            assertThat(leads.text()).isEqualTo("text");
            assertThat(leads.optional()).contains("text");
            Term term = leads.term("x", null);
            assertThat(term.leadership()).isEqualTo("work");
            assertThat(leads.underLock()).isEqualTo("locked");

            Work follows = second.select(Work.class).get();
            assertThat(follows.text()).isNull();
            assertThat(follows.optional()).isEmpty();
            assertThat(follows.stage().toCompletableFuture()).isCompletedWithValue(null);
            assertThat(follows.term("x", null)).isNull();
            Leaderships others = second.select(Leaderships.class).get();
            assertThat(others.names()).containsExactly("work");
            assertThat(others.term("work")).isEmpty();
            try (LockClient other = LockClient.connect("memory:leader");
                    var held = other.acquire("other")) {
                assertThat(follows.underLock()).as("asks for no lock").isNull();
                assertThat(held.isValid()).isTrue();
            }

            first.close();
            assertThat(leading(second).term("x", null).fencingToken()).isGreaterThan(term.fencingToken());
        } finally {
            if (first.isRunning()) {
                first.close();
            }
        }
    }

    @Test
    void the_end_of_the_container_interrupts_a_call_and_cancels_a_stage() throws Exception {
        CompletableFuture<Void> running;
        CompletionStage<?> stage;
        try (SeContainer container = start("memory:leader-end")) {
            Work leads = leading(container);
            stage = leads.stage();
            running = CompletableFuture.runAsync(() -> {
                try {
                    leads.waits();
                } catch (InterruptedException e) {
                    throw new IllegalStateException("interrupted", e);
                }
            });
            assertThat(Work.inside.await(60, TimeUnit.SECONDS)).isTrue();
        }
        assertThatThrownBy(() -> running.get(60, TimeUnit.SECONDS)).hasStackTraceContaining("interrupted");
        assertThat(stage.toCompletableFuture()).isCancelled();
    }

    @Test
    void a_lost_term_rolls_back() {
        try (SeContainer container = start("memory:leader-lost")) {
            assertThatThrownBy(leading(container)::loses)
                    .hasMessage("rolled back")
                    .hasCauseInstanceOf(LeaseLostException.class);
        }
    }

    @Dependent
    static class Primitive {
        @Leader("x")
        int method() {
            return 1;
        }
    }

    @Dependent
    static class Nameless {
        @Leader("")
        void method() {}
    }

    @Dependent
    static class Private {
        @Leader("x")
        @SuppressWarnings("UnusedMethod")
        private void method() {}
    }

    interface Declares {
        @Leader("x")
        void method();
    }

    @Dependent
    static class OfInterface implements Declares {
        @Override
        public void method() {}
    }

    @Test
    void a_declaration_that_cannot_work_fails_the_start() {
        assertRefused(Primitive.class, "a skipped call returns null or empty, but it returns int");
        assertRefused(Nameless.class, "it has no name (expected: @Leader(\"billing\"), for example)");
        assertRefused(Private.class, "a private, static or final method cannot be intercepted, so every process");
        assertRefused(OfInterface.class, "@Leader on " + Declares.class.getName() + ".method(): CDI does not see");
    }

    private static void assertRefused(Class<?> bean, String why) {
        assertThatThrownBy(() -> Containers.start("memory:unused", bean).close())
                .hasStackTraceContaining("@Leader on " + LeaderTest.class.getName())
                .hasStackTraceContaining(why);
    }

    @Test
    void the_time_to_stop_is_a_setting() {
        System.setProperty("holdfast.leader.stop-within", "5s");
        try {
            assertThat(Settings.leadership().stopWithin()).contains(Duration.ofSeconds(5));
        } finally {
            System.clearProperty("holdfast.leader.stop-within");
        }
        assertThat(Settings.leadership().stopWithin()).isEmpty();
    }
}
