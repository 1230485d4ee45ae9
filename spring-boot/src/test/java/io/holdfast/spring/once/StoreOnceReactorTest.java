package io.holdfast.spring.once;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.LockClient;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** The snippet of docs/idempotent.md for Reactor. */
@Timeout(60)
class StoreOnceReactorTest {

    private final Payments payments = new Payments();
    private final AtomicInteger settled = new AtomicInteger();
    private final Sinks.One<String> bank = Sinks.one();

    private Mono<String> once(LockClient locks, String id, int amount) {
        Mono<String> receipt = Mono.fromFuture(
                () -> locks.once()
                        .runAsync(
                                "payment:" + id,
                                "amount=" + amount,
                                lease -> payments.settle(id, amount).toFuture())
                        .toCompletableFuture(),
                true);
        return receipt;
    }

    private final class Payments {

        Mono<String> settle(String id, int amount) {
            assertThat(id + " " + amount).isEqualTo("17 7");
            settled.incrementAndGet();
            return bank.asMono();
        }
    }

    @Test
    void a_publisher_runs_once_and_is_replayed() {
        try (LockClient locks = LockClient.connect("memory:once-replayed")) {
            bank.tryEmitValue("receipt");
            for (int i = 0; i < 2; i++) {
                assertThat(once(locks, "17", 7).block(Duration.ofSeconds(10))).isEqualTo("receipt");
            }
            assertThat(settled).hasValue(1);
        }
    }

    @Test
    void the_work_of_a_cancelled_subscriber_goes_on_under_the_lock_and_is_stored() {
        try (LockClient locks = LockClient.connect("memory:once-cancelled")) {
            Disposable subscriber = once(locks, "17", 7).subscribe();
            await().until(() -> settled.get() == 1);
            subscriber.dispose();
            assertThat(locks.inspect("payment:17").isLocked()).isTrue();
            bank.tryEmitValue("receipt");
            assertThat(once(locks, "17", 7).block(Duration.ofSeconds(10))).isEqualTo("receipt");
            assertThat(settled).hasValue(1);
        }
    }
}
