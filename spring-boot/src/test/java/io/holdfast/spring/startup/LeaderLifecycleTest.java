package io.holdfast.spring.startup;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.Leadership;
import io.holdfast.LeadershipListener;
import io.holdfast.LockClient;
import io.holdfast.Term;
import io.holdfast.spring.Leader;
import io.holdfast.spring.Leaderships;
import io.holdfast.spring.LockedConfiguration;
import io.holdfast.spring.boot.Contexts;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.context.event.ContextRefreshedEvent;
import org.springframework.context.event.EventListener;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/** A leadership begins when all else has started, and ends before anything else stops. */
@Timeout(120)
class LeaderLifecycleTest {

    private static final Duration LONG = Duration.ofSeconds(60);

    /** Writes down what begins and ends. */
    static class Course implements SmartLifecycle, DisposableBean {

        final List<String> events = new CopyOnWriteArrayList<>();
        private volatile boolean running;

        @Override
        public void start() {
            running = true;
            events.add("started");
        }

        @Override
        public void stop() {
            running = false;
            events.add("stopped");
        }

        @Override
        public boolean isRunning() {
            return running;
        }

        @Override
        public int getPhase() {
            return Integer.MAX_VALUE;
        }

        @EventListener
        public void on(ContextRefreshedEvent event) {
            events.add("refreshed");
        }

        @EventListener
        @Order(Ordered.HIGHEST_PRECEDENCE)
        public void on(ContextClosedEvent event) {
            events.add("closing");
        }

        @Override
        public void destroy() {
            events.add("destroyed");
        }

        void awaitElections(int count) {
            await().atMost(LONG)
                    .until(() -> events.stream().filter("elected"::equals).count() == count);
        }
    }

    /** Takes a while to stop, so that a close that does not wait for it comes first. */
    record Recorder(Course course) implements LeadershipListener {

        @Override
        public void onElected(Term term) {
            course.events.add("elected");
        }

        @Override
        public void onRevoked(Term term) throws Exception {
            Thread.sleep(200);
            course.events.add("revoked");
        }
    }

    static class Work {

        @Autowired
        Course course;

        private final CountDownLatch begun = new CountDownLatch(1);

        /** Fields of a proxy are not those of the object. */
        CountDownLatch begun() {
            return begun;
        }

        @Leader("work")
        public void untilInterrupted() throws InterruptedException {
            begun.countDown();
            try {
                Thread.sleep(60_000);
            } finally {
                course.events.add("ended");
            }
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Marked {

        @Bean
        Course course() {
            return new Course();
        }

        @Bean
        @Leader("work")
        LeadershipListener listener(Course course) {
            return new Recorder(course);
        }

        @Bean
        Work work() {
            return new Work();
        }
    }

    @Leader("work")
    static class MarkedClass implements LeadershipListener {

        @Autowired
        Course course;

        @Override
        public void onElected(Term term) {
            course.events.add("elected");
        }
    }

    @Test
    void begins_after_all_else_and_ends_before_it() {
        Contexts.memory("leader-life").withUserConfiguration(Marked.class).run(context -> {
            Course course = context.getBean(Course.class);
            course.awaitElections(1);
            Work work = context.getBean(Work.class);
            CompletableFuture<Void> call = CompletableFuture.runAsync(() -> {
                try {
                    work.untilInterrupted();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            });
            assertThat(work.begun().await(60, SECONDS)).isTrue();
            context.getSourceApplicationContext().close();
            assertThat(call).succeedsWithin(LONG);
            assertThat(course.events)
                    .containsSubsequence(
                            "started", "refreshed", "elected", "revoked", "closing", "stopped", "destroyed")
                    .containsSubsequence("elected", "ended", "closing");
        });
    }

    @Test
    void a_class_can_be_the_listener() {
        Contexts.memory("leader-class")
                .withBean(Course.class)
                .withBean(MarkedClass.class)
                .run(context -> context.getBean(Course.class).awaitElections(1));
    }

    @Test
    void a_context_that_stops_and_starts_stands_again() {
        Contexts.memory("leader-restart").withUserConfiguration(Marked.class).run(context -> {
            ConfigurableApplicationContext source = context.getSourceApplicationContext();
            Course course = context.getBean(Course.class);
            course.awaitElections(1);
            source.stop();
            assertThat(course.events).contains("revoked", "stopped");
            assertThat(context.getBean(Leaderships.class).term("work")).isEmpty();
            source.start();
            course.awaitElections(2);
        });
    }

    // --- leaderships that the application makes ---

    @Configuration(proxyBeanMethods = false)
    static class Own {

        @Bean
        Course course() {
            return new Course();
        }

        /** Has an inferred destroy method. */
        @Bean
        Leadership leadership(LockClient locks, Course course) {
            return locks.leadership("own", new Recorder(course));
        }
    }

    @Test
    void a_bean_of_the_application_ends_first_too() {
        Contexts.memory("leader-own").withUserConfiguration(Own.class).run(context -> {
            Course course = context.getBean(Course.class);
            course.awaitElections(1);
            context.getSourceApplicationContext().close();
            assertThat(course.events).containsSubsequence("elected", "revoked", "closing", "stopped", "destroyed");
        });
    }

    @Test
    void one_that_is_no_bean_ends_first_too() {
        Contexts.memory("leader-code").withBean(Course.class).run(context -> {
            Course course = context.getBean(Course.class);
            Leadership own = context.getBean(LockClient.class).leadership("own", new Recorder(course));
            course.awaitElections(1);
            context.getSourceApplicationContext().close();
            assertThat(course.events).containsSubsequence("elected", "revoked", "closing");
            assertThat(own.isLeader()).isFalse();
        });
    }

    // --- other lives ---

    static class Ends {

        @Autowired
        ConfigurableApplicationContext context;

        @Leader("ends")
        public @Nullable Duration close() {
            long began = System.nanoTime();
            context.close();
            return Duration.ofNanos(System.nanoTime() - began);
        }
    }

    /** It would wait for itself for 42 seconds. */
    @Test
    void a_leader_may_close_its_context() {
        Contexts.memory("leader-ends")
                .withPropertyValues("holdfast.lease-time=2m")
                .withBean(Ends.class)
                .run(context -> {
                    await().atMost(LONG)
                            .until(() -> context.getBean(Leaderships.class)
                                    .term("ends")
                                    .isPresent());
                    assertThat(context.getBean(Ends.class).close()).isLessThan(Duration.ofSeconds(25));
                });
    }

    public static class LazyWork {

        final AtomicInteger calls = new AtomicInteger();

        public int calls() {
            return calls.get();
        }

        @Leader("lazy")
        public void run() {
            calls.incrementAndGet();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class WithLazy {

        @Bean
        @Lazy
        LazyWork lazyWork() {
            return new LazyWork();
        }
    }

    @Test
    void a_bean_that_is_made_late_stands_from_then_on() {
        Contexts.memory("leader-lazy").withUserConfiguration(WithLazy.class).run(context -> {
            Leaderships all = context.getBean(Leaderships.class);
            assertThat(all.names()).isEmpty();
            LazyWork work = context.getBean(LazyWork.class);
            await().atMost(LONG).until(() -> all.term("lazy").isPresent());
            int before = work.calls();
            work.run();
            assertThat(work.calls()).isEqualTo(before + 1);
        });
    }

    @Test
    void a_child_closes_its_own_leaderships_alone() {
        Contexts.memory("leader-child").withUserConfiguration(Marked.class).run(parent -> {
            Course course = parent.getBean(Course.class);
            course.awaitElections(1);
            AnnotationConfigApplicationContext child = new AnnotationConfigApplicationContext();
            child.setParent((ApplicationContext) parent.getSourceApplicationContext());
            child.register(LockedConfiguration.class, LazyWork.class);
            child.refresh();
            Leaderships all = child.getBean("holdfastLeaderships", Leaderships.class);
            await().atMost(LONG).until(() -> all.term("lazy").isPresent());
            child.close();
            assertThat(all.term("lazy")).isEmpty();
            try (LockClient other = LockClient.connect("memory:leader-child")) {
                assertThat(other.tryAcquire("leader:lazy")).isPresent();
            }
            assertThat(course.events).doesNotContain("revoked");
            assertThat(parent.getBean(Leaderships.class).term("work")).isPresent();
        });
    }
}
