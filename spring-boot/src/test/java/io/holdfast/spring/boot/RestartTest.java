package io.holdfast.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.DistributedLock;
import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockClientClosedException;
import io.holdfast.spring.Locked;
import io.holdfast.testkit.servers.RedisServer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** A context that is stopped and started again, as Spring does around a checkpoint and a restore. */
class RestartTest {

    static class Orders {

        @Locked("order")
        public boolean ship(@Nullable Lease lease) {
            return lease != null && lease.isValid();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Application {

        @Bean
        Orders orders() {
            return new Orders();
        }
    }

    @Test
    void locked_methods_work_after_stop_and_start_on_redis() {
        try (RedisServer server = RedisServer.start()) {
            worksAgain(Contexts.boot().withPropertyValues("spring.data.redis.url=" + server.uri()));
            worksAgain(Contexts.boot().withPropertyValues("holdfast.store=" + server.uri()));
        }
    }

    @Test
    void locked_methods_work_after_stop_and_start_in_memory() {
        worksAgain(Contexts.memory("restart"));
    }

    private static void worksAgain(ApplicationContextRunner runner) {
        runner.withUserConfiguration(Application.class).run(context -> {
            ConfigurableApplicationContext lifecycle = context.getSourceApplicationContext();
            Orders orders = context.getBean(Orders.class);
            LockClient client = context.getBean(LockClient.class);
            DistributedLock lock = client.getLock("inventory");
            assertThat(orders.ship(null)).isTrue();
            Lease held = client.acquire("held");

            lifecycle.stop();
            assertThat(held.isValid()).isFalse();
            assertThatThrownBy(() -> client.tryAcquire("x")).isInstanceOf(LockClientClosedException.class);

            lifecycle.start();
            assertThat(context.getBean(LockClientLifecycle.class).isRunning()).isTrue();
            assertThat(orders.ship(null)).as("after the restart").isTrue();
            assertThat(client.tryAcquire("held")).as("released at the stop").isPresent();
            assertThat(held.isValid()).isFalse();
            assertThat(lock.tryLock()).isTrue();
            lock.unlock();

            lifecycle.stop();
            lifecycle.start();
            assertThat(orders.ship(null)).as("after the second restart").isTrue();
        });
    }
}
