package io.holdfast.samples.micronaut;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.micronaut.context.ApplicationContext;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Runs the code of docs/micronaut.md in two application contexts, which stand for two processes. */
class MicronautPageTest {

    /** Finds out what names are locked, and whether two callers are inside. */
    private static final class Watched implements Orders {

        private final AtomicInteger inside = new AtomicInteger();
        private final AtomicInteger overlaps = new AtomicInteger();
        private final AtomicInteger refunds = new AtomicInteger();
        private final AtomicInteger cleanUps = new AtomicInteger();
        private final CountDownLatch cleaned = new CountDownLatch(1);

        @Override
        public void refund(long orderId) {
            try (LockClient other = LockClient.connect("memory:micronaut")) {
                if (inside.incrementAndGet() > 1
                        || !other.inspect("order.refund:" + orderId).isLocked()) {
                    overlaps.incrementAndGet();
                }
                refunds.incrementAndGet();
                inside.decrementAndGet();
            }
        }

        @Override
        public void cleanUp() {
            cleanUps.incrementAndGet();
            cleaned.countDown();
        }
    }

    private final Watched orders = new Watched();

    private ApplicationContext start() {
        return ApplicationContext.builder()
                .properties(Map.of("holdfast.store", "memory:micronaut"))
                .singletons(orders)
                .start();
    }

    @Test
    void two_processes_exclude_each_other() {
        try (ApplicationContext one = start();
                ApplicationContext other = start()) {
            CompletableFuture.allOf(IntStream.range(0, 100)
                            .mapToObj(i -> CompletableFuture.runAsync(() -> (i % 2 == 0 ? one : other)
                                    .getBean(Refunds.class)
                                    .refund(42)))
                            .toArray(CompletableFuture[]::new))
                    .orTimeout(2, TimeUnit.MINUTES)
                    .join();
            assertThat(orders.refunds).hasValue(100);
            assertThat(orders.overlaps).hasValue(0);
        }
    }

    @Test
    void a_nested_call_of_the_same_lock_is_refused() {
        try (ApplicationContext context = start()) {
            Refunds refunds = context.getBean(Refunds.class);
            assertThatThrownBy(
                            () -> context.getBean(LockClient.class).run("order.refund:42", lease -> refunds.refund(42)))
                    .isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void a_process_that_finds_the_lock_taken_skips_the_job() throws Exception {
        try (LockClient other = LockClient.connect("memory:micronaut")) {
            Lease held = other.acquire("job:cleanup");
            try (ApplicationContext context = start()) {
                context.getBean(Refunds.class).cleanUp();
                assertThat(orders.cleanUps).hasValue(0);
                held.release();
                context.getBean(Refunds.class).cleanUp();
                assertThat(orders.cleaned.await(60, TimeUnit.SECONDS)).isTrue();
            }
        }
    }
}
