package io.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LeaseLostException;
import io.holdfast.LockClient;
import io.holdfast.spring.boot.Contexts;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;

/** What the caller and the method hear of a lease that is lost while the method runs. */
class LossTest {

    public static class Work {

        private final LockClient client;
        final List<Object> events = new CopyOnWriteArrayList<>();

        Work(LockClient client) {
            this.client = client;
        }

        private void lose(String name) {
            assertThat(client.forceRelease(name)).isTrue();
        }

        private void loseAndSee(String name) {
            lose(name);
            org.awaitility.Awaitility.await().until(() -> client.localLocks().isEmpty());
        }

        @Locked("thrown")
        public String thrown() {
            loseAndSee("thrown");
            return "a result";
        }

        @Locked("thrown")
        public String fails() {
            loseAndSee("thrown");
            throw new IllegalStateException("its own");
        }

        /** The engine has not found out yet: the release does. */
        @Locked(name = "late", leaseTime = "30s")
        public String foundAtTheRelease() {
            lose("late");
            return "a result";
        }

        @Locked(name = "interrupted", onLost = OnLost.INTERRUPT)
        public String interrupted() throws InterruptedException {
            lose("interrupted");
            boolean never = new CountDownLatch(1).await(60, TimeUnit.SECONDS);
            return "not interrupted " + never;
        }

        @Locked(name = "interrupted", onLost = OnLost.INTERRUPT)
        public String ignoresTheInterrupt() {
            loseAndSee("interrupted");
            org.awaitility.Awaitility.await()
                    .pollInSameThread()
                    .until(() -> Thread.currentThread().isInterrupted());
            return "a result";
        }

        /** As one that hangs. */
        @Locked(name = "hangs", holdAtMost = "200ms")
        public String hangs() {
            org.awaitility.Awaitility.await().until(() -> client.localLocks().isEmpty());
            return "a result";
        }

        @Locked(name = "event", onLost = OnLost.EVENT)
        public String event() {
            loseAndSee("event");
            org.awaitility.Awaitility.await().until(() -> !events.isEmpty());
            return "a result";
        }

        @Locked(name = "event", onLost = OnLost.EVENT, leaseTime = "30s")
        public String eventAtTheRelease() {
            lose("event");
            return "a result";
        }

        @EventListener
        void on(LeaseLostEvent event) {
            events.add(event);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Application {
        @Bean
        Work work(LockClient client) {
            return new Work(client);
        }
    }

    @Test
    void the_result_is_dropped_and_the_loss_is_thrown() {
        run(work -> {
            assertThatThrownBy(work::thrown).isInstanceOf(LeaseLostException.class);
            assertThatThrownBy(work::foundAtTheRelease).isInstanceOf(LeaseLostException.class);
            assertThatThrownBy(work::fails)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage("its own")
                    .satisfies(e -> assertThat(e.getSuppressed()).hasExactlyElementsOfTypes(LeaseLostException.class));
        });
    }

    @Test
    void a_method_that_hangs_holds_no_longer_than_it_may() {
        run(work -> assertThatThrownBy(work::hangs).isInstanceOf(LeaseLostException.class));
    }

    @Test
    void the_thread_is_interrupted_and_the_interrupt_does_not_outlive_the_method() {
        run(work -> {
            assertThatThrownBy(work::interrupted)
                    .isInstanceOf(LeaseLostException.class)
                    .satisfies(
                            e -> assertThat(e.getSuppressed()).hasExactlyElementsOfTypes(InterruptedException.class));
            assertThat(Thread.interrupted()).isFalse();
            assertThatThrownBy(work::ignoresTheInterrupt).isInstanceOf(LeaseLostException.class);
            assertThat(Thread.interrupted()).isFalse();
        });
    }

    @Test
    void an_event_is_published_once_and_the_result_stands() {
        run(work -> {
            assertThat(work.event()).isEqualTo("a result");
            assertThat(work.eventAtTheRelease()).isEqualTo("a result");
        });
    }

    private static void run(Consumer<Work> test) {
        Contexts.memory("loss").withUserConfiguration(Application.class).run(context -> {
            assertThat(context).hasNotFailed();
            Work work = context.getBean(Work.class);
            test.accept(work);
        });
    }
}
