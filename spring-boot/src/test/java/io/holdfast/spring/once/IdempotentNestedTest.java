package io.holdfast.spring.once;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.spring.Idempotent;
import io.holdfast.spring.Locked;
import io.holdfast.spring.OnceRecord;
import io.holdfast.spring.boot.Contexts;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** Calls one after the other under the lock of a caller that has the name of their key. */
class IdempotentNestedTest {

    public static class Payments {

        final AtomicInteger runs = new AtomicInteger();

        @Idempotent(name = "pay", key = "#id", record = OnceRecord.STORE_AT_LEAST_ONCE)
        public Mono<Integer> pay(String id) {
            return Mono.fromCallable(() -> {
                if (runs.incrementAndGet() == 1) {
                    throw new IllegalArgumentException("the bank is closed");
                }
                return runs.get();
            });
        }
    }

    public static class Orders {

        private final Payments payments;

        Orders(Payments payments) {
            this.payments = payments;
        }

        @Locked(name = "pay", key = "#id")
        public Mono<Integer> again(String id) {
            return payments.pay(id).retry(1).then(payments.pay(id));
        }
    }

    @Test
    void a_call_that_has_ended_is_no_call_of_its_own_key() {
        String id = UUID.randomUUID().toString();
        OnceContexts.json(Contexts.memory("nested-" + id))
                .withBean(Payments.class)
                .withBean(Orders.class)
                .run(started -> assertThat(
                                started.getBean(Orders.class).again(id).block(Duration.ofSeconds(30)))
                        .isEqualTo(2));
    }
}
