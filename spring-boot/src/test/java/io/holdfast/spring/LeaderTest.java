package io.holdfast.spring;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.LockClient;
import io.holdfast.Term;
import io.holdfast.spring.boot.Contexts;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Methods of a leader: where they run, what a skipped call returns, and how a revocation ends them. */
@Timeout(120)
class LeaderTest {

    private static final Duration LONG = Duration.ofSeconds(60);

    /** Leads in the context that started first. */
    public static class Work {

        private final AtomicInteger calls = new AtomicInteger();

        @Autowired
        @Nullable
        Leaderships leaderships;

        public int calls() {
            return calls.get();
        }

        @Leader("work")
        public void nothing() {
            calls.incrementAndGet();
        }

        @Leader("work")
        public @Nullable String text() {
            return "text";
        }

        @Leader("work")
        public Optional<String> optional() {
            return Optional.of("text");
        }

        @Leader("work")
        public CompletableFuture<@Nullable String> stage() {
            return CompletableFuture.completedFuture("text");
        }

        @Leader("work")
        public Mono<String> mono(@Nullable Term term) {
            return Mono.fromCallable(() -> calls.incrementAndGet() + " in " + term.fencingToken());
        }

        @Leader("work")
        public Flux<String> flux() {
            return Flux.just("a", "b");
        }

        @Leader("work")
        public @Nullable Term term(String before, @Nullable Term term) {
            assertThat(leaderships.term("work").orElseThrow().fencingToken()).isEqualTo(term.fencingToken());
            return term;
        }

        @Leader("work")
        @Locked(name = "other", waitTime = "0")
        public @Nullable String underLock() {
            return "locked";
        }

        @Leader("work")
        public @Nullable String nested(Function<Work, @Nullable String> call, Work self) {
            return call.apply(self);
        }
    }

    static void awaitTerm(ApplicationContext context, String name) {
        Leaderships all = context.getBean(Leaderships.class);
        await().atMost(LONG).until(() -> all.term(name).isPresent());
    }

    @Test
    void runs_where_this_process_leads_and_is_skipped_elsewhere() {
        var application = Contexts.memory("leader").withBean(Work.class);
        application.run(first -> {
            awaitTerm(first, "work");
            Work leads = first.getBean(Work.class);
            leads.nothing();
            assertThat(leads.calls()).isEqualTo(1);
            assertThat(leads.text()).isEqualTo("text");
            assertThat(leads.optional()).contains("text");
            assertThat(leads.stage()).isCompletedWithValue("text");
            Term term = leads.term("x", null);
            assertThat(term.leadership()).isEqualTo("work");
            assertThat(term.isValid()).isTrue();
            assertThat(leads.mono(null).block()).isEqualTo("2 in " + term.fencingToken());
            assertThat(leads.flux().collectList().block()).containsExactly("a", "b");
            assertThat(leads.nested(Work::text, leads)).isEqualTo("text");
            assertThat(leads.underLock()).isEqualTo("locked");

            application.run(second -> {
                Work follows = second.getBean(Work.class);
                follows.nothing();
                assertThat(follows.text()).isNull();
                assertThat(follows.optional()).isEmpty();
                assertThat(follows.stage()).isCompletedWithValue(null);
                assertThat(follows.term("x", null)).isNull();
                assertThat(follows.mono(null).blockOptional()).isEmpty();
                assertThat(follows.flux().collectList().block()).isEmpty();
                assertThat(follows.calls()).isZero();
                assertThat(second.getBean(Leaderships.class).names()).containsExactly("work");
                assertThat(second.getBean(Leaderships.class).term("work")).isEmpty();
                try (LockClient other = LockClient.connect("memory:leader");
                        var held = other.acquire("other")) {
                    assertThat(follows.underLock()).as("asks for no lock").isNull();
                    assertThat(held.isValid()).isTrue();
                }
            });
        });
    }

    @Test
    void another_process_leads_when_the_context_of_the_leader_closes() {
        var application = Contexts.memory("leader-close").withBean(Work.class);
        application.run(first -> {
            awaitTerm(first, "work");
            long before = first.getBean(Work.class).term("x", null).fencingToken();
            application.run(second -> {
                Work next = second.getBean(Work.class);
                assertThat(next.text()).isNull();
                first.getSourceApplicationContext().close();
                awaitTerm(second, "work");
                assertThat(next.term("x", null).fencingToken()).isGreaterThan(before);
            });
        });
    }

    @EnableScheduling
    @Configuration(proxyBeanMethods = false)
    static class Scheduling {}

    public static class Job {

        private final AtomicInteger runs = new AtomicInteger();

        public int runs() {
            return runs.get();
        }

        @Scheduled(fixedDelay = 10)
        @Leader("${job.leader:job}")
        public void run() {
            runs.incrementAndGet();
        }
    }

    @Test
    void a_scheduled_method_runs_on_one_node() {
        var application = Contexts.memory("leader-job")
                .withUserConfiguration(Scheduling.class)
                .withBean(Job.class);
        application.run(first -> {
            awaitTerm(first, "job");
            await().atMost(LONG).until(() -> first.getBean(Job.class).runs() > 2);
            application.run(second -> {
                int before = first.getBean(Job.class).runs();
                await().atMost(LONG).until(() -> first.getBean(Job.class).runs() > before + 5);
                assertThat(second.getBean(Job.class).runs()).isZero();
                first.getSourceApplicationContext().close();
                await().atMost(LONG).until(() -> second.getBean(Job.class).runs() > 2);
            });
        });
    }

    // --- how calls end ---

    /** How a long call went. */
    static final class Course {
        final CountDownLatch begun = new CountDownLatch(1);
        final CountDownLatch mayEnd = new CountDownLatch(1);
        volatile @Nullable Throwable ended;
        volatile boolean validAtTheEnd;
    }

    public static class LongWork {

        private final Course course = new Course();

        /** Fields of a proxy are not those of the object. */
        Course course() {
            return course;
        }

        @Leader("work")
        public void untilInterrupted(@Nullable Term term) throws InterruptedException {
            course.begun.countDown();
            try {
                course.mayEnd.await();
            } catch (InterruptedException e) {
                course.ended = e;
                course.validAtTheEnd = term.isValid();
                throw e;
            }
        }

        @Leader("work")
        public void deafToInterrupts() {
            course.begun.countDown();
            boolean over = false;
            while (!over) {
                try {
                    over = course.mayEnd.await(60, SECONDS);
                } catch (InterruptedException e) {
                    course.ended = e;
                }
            }
        }

        @Leader("work")
        public CompletableFuture<String> stage() {
            course.begun.countDown();
            return new CompletableFuture<>();
        }

        @Leader("work")
        public Mono<String> mono() {
            return Mono.<String>never()
                    .doOnSubscribe(each -> course.begun.countDown())
                    .doOnCancel(() -> course.ended = new CancellationException("the publisher itself"));
        }

        @Leader("work")
        public Flux<String> flux() {
            return Flux.concat(Flux.just("a"), Flux.never()).doOnNext(each -> course.begun.countDown());
        }
    }

    private interface Body {
        void run(ApplicationContext context, LongWork work) throws Exception;
    }

    private static void withWork(String store, Body body) {
        Contexts.memory(store)
                .withBean(LongWork.class)
                .withPropertyValues("holdfast.lease-time=3s", "holdfast.leader.stop-within=500ms")
                .run(context -> {
                    awaitTerm(context, "work");
                    body.run(context, context.getBean(LongWork.class));
                });
    }

    private static void resign(ApplicationContext context) {
        context.getBean(LockClient.class).leaderships().forEach(each -> each.resign());
    }

    @Test
    void a_running_method_is_interrupted_at_the_revocation_under_the_lock() {
        withWork("leader-interrupt", (context, work) -> {
            CompletableFuture<Void> call = CompletableFuture.runAsync(() -> {
                try {
                    work.untilInterrupted(null);
                } catch (InterruptedException e) {
                    throw new java.util.concurrent.CompletionException(e);
                }
            });
            assertThat(work.course().begun.await(60, SECONDS)).isTrue();
            resign(context);
            assertThat(call)
                    .failsWithin(LONG)
                    .withThrowableOfType(ExecutionException.class)
                    .withCauseInstanceOf(InterruptedException.class);
            assertThat(work.course().validAtTheEnd).isTrue();
        });
    }

    @Test
    void a_method_that_is_deaf_is_logged_and_this_process_leads_no_more_until_it_returns() throws Exception {
        try (LogLines warnings = new LogLines(Class.forName("io.holdfast.leader.TermCalls"))) {
            withWork("leader-deaf", (context, work) -> {
                CompletableFuture<Void> call = CompletableFuture.runAsync(work::deafToInterrupts);
                assertThat(work.course().begun.await(60, SECONDS)).isTrue();
                try (LockClient other = LockClient.connect("memory:leader-deaf")) {
                    resign(context);
                    other.acquire("leader:work", LONG).release();
                    await().atMost(LONG).until(() -> !warnings.lines().isEmpty());
                    assertThat(warnings.lines())
                            .singleElement()
                            .asString()
                            .contains("WARNING", "Another process may lead \"work\"", "LongWork.deafToInterrupts()");
                    assertThat(context.getBean(Leaderships.class).term("work")).isEmpty();
                    assertThat(other.inspect("leader:work").isLocked()).isFalse();
                }
                work.course().mayEnd.countDown();
                assertThat(call).succeedsWithin(LONG);
                awaitTerm(context, "work");
                assertThat(work.course().ended).isNotNull();
            });
        }
    }

    @Test
    void stages_and_publishers_are_cancelled() {
        withWork("leader-cancel", (context, work) -> {
            CompletableFuture<String> stage = work.stage();
            CompletableFuture<String> mono = work.mono().toFuture();
            CompletableFuture<java.util.List<String>> flux =
                    work.flux().collectList().toFuture();
            resign(context);
            assertThatThrownBy(() -> stage.get(60, SECONDS)).isInstanceOf(CancellationException.class);
            assertThatThrownBy(() -> mono.get(60, SECONDS))
                    .hasStackTraceContaining("The leadership \"work\" was revoked");
            assertThatThrownBy(() -> flux.get(60, SECONDS))
                    .hasStackTraceContaining("The leadership \"work\" was revoked");
            assertThat(work.course().ended).hasMessage("the publisher itself");
            // All calls have ended: this process may lead again.
            awaitTerm(context, "work");
        });
    }

    @EnableAsync
    @Configuration(proxyBeanMethods = false)
    static class Asynchronous {}

    public static class AsyncWork {

        @Async
        @Leader("work")
        public CompletableFuture<@Nullable Thread> thread(@Nullable Term term) {
            return CompletableFuture.completedFuture(term.isValid() ? Thread.currentThread() : null);
        }
    }

    @Test
    void an_asynchronous_method_is_of_the_leader_on_the_thread_of_its_executor() {
        Contexts.memory("leader-async")
                .withUserConfiguration(Asynchronous.class)
                .withBean(AsyncWork.class)
                .run(context -> {
                    awaitTerm(context, "work");
                    assertThat(context.getBean(AsyncWork.class).thread(null).get(60, SECONDS))
                            .isNotNull()
                            .isNotEqualTo(Thread.currentThread());
                    context.getBean(LockClient.class).close();
                    assertThat(context.getBean(AsyncWork.class).thread(null).get(60, SECONDS))
                            .isNull();
                });
    }
}
