package io.holdfast.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Lease;
import io.holdfast.spring.Locked;
import io.holdfast.testkit.OverlapDetector;
import io.holdfast.testkit.servers.RedisServer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The case of the sources: an order is refunded by two instances at once, by fifty requests to each. */
class RefundTest {

    private static final int REQUESTS = 50;

    /** The money, which knows of no lock. */
    private static final AtomicInteger PAID_OUT = new AtomicInteger();

    private static volatile boolean refunded;
    private static final OverlapDetector OVERLAPS = new OverlapDetector("order.refund:12345");

    static class Refunds {

        @Locked(name = "order.refund", key = "#orderId", waitTime = "60s")
        public boolean refund(long orderId, @Nullable Lease lease) throws InterruptedException {
            OVERLAPS.enter(lease.fencingToken());
            try {
                if (refunded) {
                    return false;
                }
                // Room for the other instance to come in between, if it could.
                Thread.sleep(20);
                PAID_OUT.incrementAndGet();
                refunded = true;
                return true;
            } finally {
                OVERLAPS.leave();
            }
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Application {

        @Bean
        Refunds refunds() {
            return new Refunds();
        }
    }

    @Test
    void a_hundred_concurrent_requests_to_two_instances_make_one_refund() throws Exception {
        try (RedisServer server = RedisServer.builder().password("s/e c#ret").start()) {
            var instances = Contexts.boot()
                    .withUserConfiguration(Application.class)
                    .withPropertyValues(
                            "spring.data.redis.host=" + server.host(),
                            "spring.data.redis.port=" + server.port(),
                            "spring.data.redis.password=s/e c#ret");
            instances.run(one -> instances.run(other -> {
                assertThat(one).hasNotFailed();
                assertThat(other).hasNotFailed();
                List<Boolean> answers = hit(List.of(one.getBean(Refunds.class), other.getBean(Refunds.class)));
                assertThat(answers).hasSize(2 * REQUESTS).containsOnlyOnce(true);
                assertThat(PAID_OUT).hasValue(1);
                OVERLAPS.assertClean();
                assertThat(OVERLAPS.entries()).isEqualTo(2 * REQUESTS);
            }));
        }
    }

    private static List<Boolean> hit(List<Refunds> instances) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(2 * REQUESTS);
        try {
            CountDownLatch start = new CountDownLatch(1);
            List<Future<Boolean>> answers = new ArrayList<>();
            for (int i = 0; i < 2 * REQUESTS; i++) {
                Refunds instance = instances.get(i % 2);
                answers.add(threads.submit(() -> {
                    start.await();
                    return instance.refund(12345, null);
                }));
            }
            start.countDown();
            List<Boolean> all = new ArrayList<>();
            for (Future<Boolean> answer : answers) {
                all.add(answer.get());
            }
            return all;
        } finally {
            threads.shutdownNow();
        }
    }
}
