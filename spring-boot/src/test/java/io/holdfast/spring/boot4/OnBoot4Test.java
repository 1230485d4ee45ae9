package io.holdfast.spring.boot4;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockClient;
import io.holdfast.spring.Locked;
import io.holdfast.spring.boot.Contexts;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;

/** What only Boot 4 and Spring Framework 7 have. */
class OnBoot4Test {

    public static class Work {

        private final LockClient client;
        static final List<Long> TOKENS = new CopyOnWriteArrayList<>();

        Work(LockClient client) {
            this.client = client;
        }

        @Retryable(maxRetries = 2, delay = 1)
        @Locked("retried")
        public String retried() {
            TOKENS.add(client.localLocks().get(0).lease().orElseThrow().fencingToken());
            if (TOKENS.size() < 3) {
                throw new IllegalStateException("again");
            }
            return "done";
        }

        @Async
        @Locked("async")
        public void async() {
            TOKENS.add(client.localLocks().get(0).lease().orElseThrow().fencingToken());
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableResilientMethods(proxyTargetClass = true)
    @EnableAsync(proxyTargetClass = true)
    static class Application {

        static final List<Runnable> TASKS = new CopyOnWriteArrayList<>();

        @Bean
        Executor taskExecutor() {
            return TASKS::add;
        }

        @Bean
        Work work(LockClient client) {
            return new Work(client);
        }
    }

    @Test
    void each_retry_acquires_anew_and_async_is_outside() {
        Contexts.memory("order").withUserConfiguration(Application.class).run(context -> {
            Work work = context.getBean(Work.class);
            assertThat(work.retried()).isEqualTo("done");
            assertThat(Work.TOKENS).hasSize(3).doesNotHaveDuplicates().isSorted();

            Work.TOKENS.clear();
            try (LockClient other = LockClient.connect("memory:order")) {
                // Held elsewhere: were the lock outside of @Async, this call would wait for it and fail.
                var held = other.tryAcquire("async").orElseThrow();
                work.async();
                held.release();
            }
            assertThat(Application.TASKS).hasSize(1);
            Application.TASKS.get(0).run();
            assertThat(Work.TOKENS).hasSize(1);
        });
    }
}
