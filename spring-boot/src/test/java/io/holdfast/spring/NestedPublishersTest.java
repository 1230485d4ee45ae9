package io.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.LockClient;
import io.holdfast.LockTimeoutException;
import io.holdfast.spring.boot.Contexts;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** Reentrance by Reactor's context. */
class NestedPublishersTest {

    private static final Duration SOON = Duration.ofSeconds(10);

    public static class Work {

        @Locked(name = "a", waitTime = "5s")
        public <T> Mono<T> outer(Lease lease, Supplier<Mono<T>> work) {
            return Mono.delay(Duration.ofMillis(5)).then(Mono.defer(work));
        }

        @Locked(name = "a", waitTime = "50ms")
        public Mono<Lease> mono(Lease lease) {
            return Mono.just(lease).publishOn(Schedulers.parallel());
        }

        @Locked(name = "a", waitTime = "50ms")
        public Flux<Lease> flux(Lease lease) {
            return Flux.just(lease, lease).publishOn(Schedulers.parallel());
        }

        @Locked(name = "a", waitTime = "50ms")
        @Locked(name = "b", waitTime = "50ms")
        public Mono<String> both() {
            return Mono.just("both");
        }
    }

    @Test
    void a_nested_call_on_the_same_name_uses_the_lease_of_the_outer_one() {
        run("nested", (work, client) -> {
            List<Lease> seen = new CopyOnWriteArrayList<>();
            Mono<Lease> nested = work.outer(
                    null,
                    () -> work.mono(null)
                            .doOnNext(seen::add)
                            .thenMany(work.flux(null))
                            .doOnNext(seen::add)
                            .publishOn(Schedulers.boundedElastic())
                            .then(work.outer(null, () -> work.mono(null)))
                            .doOnNext(seen::add)
                            .doOnNext(lease -> assertThat(lease.isValid()).isTrue()));
            assertThat(nested.block(SOON)).isNotNull();
            assertThat(seen).hasSize(4).allMatch(lease -> lease == seen.get(0));
            await().untilAsserted(() -> assertThat(client.localLocks()).isEmpty());
            // Each subscription has a lease of its own.
            assertThat(nested.block(SOON)).isNotSameAs(seen.get(0));
        });
    }

    @Test
    void a_nested_call_acquires_the_other_names_only() {
        run("others", (work, client) -> {
            assertThat(work.outer(null, work::both).block(SOON)).isEqualTo("both");
            try (Lease other = client.tryAcquire("b").orElseThrow()) {
                assertThatThrownBy(() -> work.outer(null, work::both).block(SOON))
                        .isInstanceOf(LockTimeoutException.class)
                        .hasMessageContaining(other.name());
            }
            await().untilAsserted(() -> assertThat(client.localLocks()).isEmpty());
        });
    }

    @Test
    void a_subscription_without_the_context_is_not_nested() {
        run(
                "foreign",
                (work, client) -> assertThatThrownBy(() -> work.outer(
                                        null,
                                        () -> Mono.fromFuture(
                                                () -> work.mono(null).toFuture()))
                                .block(SOON))
                        .isInstanceOf(LockTimeoutException.class));
    }

    @Test
    void a_nested_call_does_not_begin_under_a_lost_lease() {
        run("lost", (work, client) -> {
            List<Lease> ran = new CopyOnWriteArrayList<>();
            assertThatThrownBy(() -> work.outer(null, () -> {
                                client.forceRelease("a");
                                return work.mono(null).doOnNext(ran::add);
                            })
                            .block(SOON))
                    .isInstanceOf(LeaseLostException.class);
            assertThat(ran).isEmpty();
        });
    }

    @Test
    void a_nested_call_that_outlives_the_outer_one_keeps_the_lock() {
        run("outlives", (work, client) -> {
            AtomicReference<Disposable> inner = new AtomicReference<>();
            Mono<Object> outer = work.outer(
                    null,
                    () -> Mono.deferContextual(context -> {
                        inner.set(work.outer(null, Mono::never)
                                .contextWrite(context)
                                .subscribe());
                        return Mono.empty();
                    }));
            outer.block(SOON);
            assertThat(client.localLocks()).hasSize(1);
            inner.get().dispose();
            await().untilAsserted(() -> assertThat(client.localLocks()).isEmpty());
        });
    }

    private static void run(String store, BiConsumer<Work, LockClient> test) {
        Contexts.memory("publishers-" + store).withBean(Work.class).run(context -> {
            assertThat(context).hasNotFailed();
            test.accept(context.getBean(Work.class), context.getBean(LockClient.class));
        });
    }
}
