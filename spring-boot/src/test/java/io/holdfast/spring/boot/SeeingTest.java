package io.holdfast.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.Leadership;
import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.LockClient;
import io.holdfast.LockTimeoutException;
import io.holdfast.memory.MemoryLockStore;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.TimeSource;
import io.holdfast.spring.Limited;
import io.holdfast.spring.Locked;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import reactor.core.publisher.Mono;

/** Meters, observations and the endpoint. */
class SeeingTest {

    public static class Work {

        private final MeterRegistry meters;

        Work(MeterRegistry meters) {
            this.meters = meters;
        }

        @Locked(name = "order.refund", key = "#id", waitTime = "0")
        public double refund(long id) {
            return meters.get("holdfast.lock.active")
                    .tag("name", "order.refund")
                    .gauge()
                    .value();
        }
    }

    /** What is called in other ways than once, on its own, to the end. */
    public static class Shapes {

        @Locked(name = "shape", waitTime = "0")
        public void outer(Runnable inner) {
            inner.run();
        }

        @Locked(name = "shape", waitTime = "0")
        public void inner() {}

        @Locked(name = "shape", waitTime = "0")
        public Mono<String> mono(boolean fails) {
            return fails ? Mono.error(new IllegalStateException("its own")) : Mono.just("done");
        }

        @Locked(name = "shape", waitTime = "0")
        public CompletableFuture<String> stage() {
            return CompletableFuture.completedFuture("done");
        }

        @Limited(name = "shape", key = "#id", permits = "2", weight = "#p0", waitTime = "0")
        public void limited(int id) {}

        @Locked(name = "shape", key = "#ids", waitTime = "0")
        public void two(List<Integer> ids, Lease lease) {}
    }

    @Configuration(proxyBeanMethods = false)
    static class Application {

        static final AtomicInteger STARTED = new AtomicInteger();
        static final List<String> OBSERVED = new CopyOnWriteArrayList<>();

        @Bean
        MeterRegistry meters() {
            return new SimpleMeterRegistry();
        }

        @Bean
        ObservationRegistry observations() {
            ObservationRegistry registry = ObservationRegistry.create();
            registry.observationConfig().observationHandler(new ObservationHandler<Observation.Context>() {
                @Override
                public void onStart(Observation.Context context) {
                    STARTED.incrementAndGet();
                }

                @Override
                public void onStop(Observation.Context context) {
                    OBSERVED.add(context.getName()
                            + context.getLowCardinalityKeyValues()
                            + context.getHighCardinalityKeyValues()
                            + context.getError());
                }

                @Override
                public boolean supportsContext(Observation.Context context) {
                    return true;
                }
            });
            return registry;
        }

        @Bean
        Work work(MeterRegistry meters) {
            return new Work(meters);
        }

        @Bean
        Shapes shapes() {
            return new Shapes();
        }
    }

    private final ApplicationContextRunner application = Contexts.memory("seeing")
            .withConfiguration(AutoConfigurations.of(
                    HoldfastMetricsAutoConfiguration.class, HoldfastActuatorAutoConfiguration.class))
            .withPropertyValues("holdfast.metrics.names=job", "management.endpoints.web.exposure.include=locks")
            .withUserConfiguration(Application.class);

    @Test
    void meters_have_the_fixed_part_of_the_name_and_never_a_key() {
        application.run(context -> {
            assertThat(context).hasNotFailed();
            MeterRegistry meters = context.getBean(MeterRegistry.class);
            LockClient client = context.getBean(LockClient.class);
            Work work = context.getBean(Work.class);
            client.acquire("order.refund:0").close();
            await().until(() -> meters.find("holdfast.lock.held").timer() != null);

            assertThat(work.refund(1)).isEqualTo(1);
            try (LockClient other = LockClient.connect("memory:seeing");
                    Lease held = other.acquire("order.refund:2")) {
                assertThatThrownBy(() -> work.refund(2)).isInstanceOf(LockTimeoutException.class);
                assertThat(held.isValid()).isTrue();
            }
            client.acquire("job:nightly").close();
            client.acquire("something:else:17").close();
            Lease lost = client.acquire("job:lost");
            client.forceRelease("job:lost");

            await().untilAsserted(() -> {
                assertThat(timer(meters, "order.refund", "acquired")).isEqualTo(2);
                assertThat(timer(meters, "order.refund", "timed_out")).isEqualTo(1);
                assertThat(timer(meters, "job", "acquired")).isEqualTo(2);
                assertThat(timer(meters, "other", "acquired")).isEqualTo(1);
                assertThat(meters.get("holdfast.lock.held")
                                .tag("name", "order.refund")
                                .timer()
                                .count())
                        .isEqualTo(2);
                assertThat(meters.get("holdfast.lease.lost")
                                .tag("name", "job")
                                .counter()
                                .count())
                        .isEqualTo(1);
            });
            assertThat(meters.get("holdfast.lock.active")
                            .tag("name", "order.refund")
                            .gauge()
                            .value())
                    .isZero();
            assertThat(meters.get("holdfast.lock.waiting")
                            .tag("name", "order.refund")
                            .gauge()
                            .value())
                    .isZero();
            assertThat(lost.isValid()).isFalse();
            // One was released, and one was lost.
            assertThat(meters.get("holdfast.lock.held")
                            .tag("name", "job")
                            .timer()
                            .count())
                    .isEqualTo(2);
            assertThat(meters.get("holdfast.renewal.lag").timeGauge().value()).isZero();
            assertThat(meters.getMeters())
                    .allSatisfy(meter ->
                            assertThat(meter.getId().getTag("name")).isIn("order.refund", "job", "other", null));
        });
    }

    @Test
    void an_error_of_whoever_observes_leaves_no_lock_behind() {
        for (Throwable error : List.of(new NoSuchMethodError("of another version"), new IOException("of Kotlin"))) {
            application.run(context -> {
                context.getBean(ObservationRegistry.class)
                        .observationConfig()
                        .observationHandler(new ObservationHandler<Observation.Context>() {
                            @Override
                            public void onEvent(Observation.Event event, Observation.Context observed) {
                                SeeingTest.<RuntimeException>unchecked(error);
                            }

                            @Override
                            public boolean supportsContext(Observation.Context observed) {
                                return true;
                            }
                        });
                Shapes shapes = context.getBean(Shapes.class);
                assertThatThrownBy(shapes::inner)
                        .satisfies(thrown -> assertThat(thrown.getCause() == null ? thrown : thrown.getCause())
                                .isSameAs(error));
                free("shape");
                assertThatThrownBy(() -> shapes.stage().get(10, TimeUnit.SECONDS))
                        .hasCause(error);
                free("shape");
            });
        }
    }

    private static void free(String name) {
        try (LockClient other = LockClient.connect("memory:seeing")) {
            await().until(() -> !other.inspect(name).isLocked());
        }
    }

    @SuppressWarnings("unchecked")
    private static <E extends Throwable> void unchecked(Throwable error) throws E {
        throw (E) error;
    }

    @Test
    void an_error_of_whoever_sees_the_end_lets_no_caller_wait() {
        application.run(context -> {
            context.getBean(ObservationRegistry.class)
                    .observationConfig()
                    .observationHandler(new ObservationHandler<Observation.Context>() {
                        @Override
                        public void onStop(Observation.Context observed) {
                            throw new IllegalStateException("at the end");
                        }

                        @Override
                        public boolean supportsContext(Observation.Context observed) {
                            return true;
                        }
                    });
            Shapes shapes = context.getBean(Shapes.class);
            assertThat(shapes.stage().get(10, TimeUnit.SECONDS)).isEqualTo("done");
            try (LockClient other = LockClient.connect("memory:seeing");
                    Lease held = other.acquire("shape")) {
                assertThatThrownBy(() -> shapes.stage().get(10, TimeUnit.SECONDS))
                        .isInstanceOf(ExecutionException.class);
                assertThat(held.isValid()).isTrue();
            }
        });
    }

    /** A store whose renewals fail. */
    private static LockStore withoutRenewals(LockStore store) {
        return (LockStore) java.lang.reflect.Proxy.newProxyInstance(
                SeeingTest.class.getClassLoader(), new Class<?>[] {LockStore.class}, (proxy, method, args) -> {
                    if (method.getName().startsWith("renew")) {
                        throw new StoreException(StoreException.Outcome.NOT_EXECUTED, "no renewals today", null);
                    }
                    return method.invoke(store, args);
                });
    }

    @Test
    void renewals_that_fail_are_counted() {
        MemoryLockStore.Server server = new MemoryLockStore.Server(TimeSource.system());
        application
                .withPropertyValues("holdfast.store=", "holdfast.lease-time=2s")
                .withBean(LockStoreFactory.class, () -> context -> withoutRenewals(server.connect(context)))
                .run(context -> {
                    Lease lease = context.getBean(LockClient.class).acquire("job:x");
                    MeterRegistry meters = context.getBean(MeterRegistry.class);
                    // Until they are there.
                    await().ignoreExceptions().untilAsserted(() -> {
                        assertThat(meters.get("holdfast.renewal.failures")
                                        .tag("name", "job")
                                        .counter()
                                        .count())
                                .isPositive();
                        assertThat(meters.get("holdfast.lease.lost")
                                        .tag("name", "job")
                                        .counter()
                                        .count())
                                .isEqualTo(1);
                    });
                    assertThat(lease.isValid()).isFalse();
                });
    }

    @Test
    void each_call_is_an_observation_with_the_key_for_traces_alone() {
        application.run(context -> {
            Application.OBSERVED.clear();
            context.getBean(LockClient.class).acquire("order.refund:0").close();
            await().until(() -> context.getBean(MeterRegistry.class)
                            .find("holdfast.lock.active")
                            .gauge()
                    != null);
            context.getBean(Work.class).refund(5);
            assertThat(Application.OBSERVED)
                    .singleElement()
                    .asString()
                    .startsWith("holdfast.locked")
                    .contains("name=order.refund", "kind=lock", "outcome=completed", "lock.names=order.refund:5");
        });
    }

    @Test
    void a_limited_call_is_seen_as_a_locked_one() {
        application.run(context -> {
            Application.OBSERVED.clear();
            context.getBean(Shapes.class).limited(2);
            assertThat(Application.OBSERVED)
                    .singleElement()
                    .asString()
                    .startsWith("holdfast.locked")
                    .contains("name=shape", "kind=permits", "outcome=completed", "lock.names=shape:2");
            await().untilAsserted(
                            () -> assertThat(timer(context.getBean(MeterRegistry.class), "permits:shape", "acquired"))
                                    .isEqualTo(1));
            assertThat(context.getBean(LocksEndpoint.class).locks().get("declared"))
                    .asString()
                    .contains(".limited(int), names=[shape:#id], permits=2, weight=#p0, waitTime=PT0S");
        });
    }

    /** One that is not ended would stay among those that are active, for ever. */
    @Test
    void each_observation_that_begins_ends() {
        application.run(context -> {
            Application.STARTED.set(0);
            Application.OBSERVED.clear();
            Shapes shapes = context.getBean(Shapes.class);
            LockClient client = context.getBean(LockClient.class);

            shapes.outer(shapes::inner);
            seen("outcome=completed", "outcome=completed");
            // The one inside must not begin, and fails; so does the one that lost its lease.
            assertThatThrownBy(() -> shapes.outer(() -> {
                        client.forceRelease("shape");
                        await().until(() -> client.localLocks().isEmpty());
                        shapes.inner();
                    }))
                    .isInstanceOf(LeaseLostException.class);
            seen("outcome=lost", "outcome=lost");
            assertThatThrownBy(() -> shapes.two(List.of(1, 2), null)).isInstanceOf(IllegalArgumentException.class);
            seen();
            try (LockClient other = LockClient.connect("memory:seeing");
                    Lease elsewhere = other.acquire("shape")) {
                assertThatThrownBy(shapes::inner).isInstanceOf(LockTimeoutException.class);
                seen("outcome=timeout");
                assertThatThrownBy(() -> shapes.mono(false).block()).isInstanceOf(LockTimeoutException.class);
                seen("outcome=timeout");
                assertThat(elsewhere.isValid()).isTrue();
            }

            Mono<String> mono = shapes.mono(false);
            seen();
            assertThat(mono.block()).isEqualTo("done");
            assertThat(mono.block()).isEqualTo("done");
            seen("outcome=completed", "outcome=completed");
            assertThatThrownBy(() -> shapes.mono(true).block()).hasMessage("its own");
            seen("its own");
        });
    }

    /** Those that ended since the last look, and that no other began. */
    private static void seen(String... parts) {
        await().untilAsserted(() -> assertThat(Application.OBSERVED).hasSize(parts.length));
        for (int i = 0; i < parts.length; i++) {
            assertThat(Application.OBSERVED.get(i)).contains(parts[i]);
        }
        assertThat(Application.STARTED.getAndSet(0)).isEqualTo(parts.length);
        Application.OBSERVED.clear();
    }

    @Test
    void the_endpoint_shows_what_is_held_here_and_what_the_store_says() {
        application.run(context -> {
            LocksEndpoint endpoint = context.getBean(LocksEndpoint.class);
            LockClient client = context.getBean(LockClient.class);
            try (Lease lease = client.acquire("shown:1")) {
                Map<?, ?> mine = (Map<?, ?>) endpoint.locks().get("holdfastLockClient");
                assertThat(mine.get("store")).isEqualTo("memory");
                assertThat(mine.get("leaderships")).isEqualTo(List.of());
                Leadership leadership = client.leadership("shown", term -> {});
                await().until(leadership::isLeader);
                assertThat(((Map<?, ?>) endpoint.locks().get("holdfastLockClient")).get("leaderships"))
                        .asString()
                        .startsWith("[{name=shown, leads=true, fencingToken=");
                leadership.close();
                assertThat(endpoint.locks().get("declared"))
                        .asString()
                        .contains("method=" + Shapes.class.getName() + ".mono(boolean)", "waitTime=PT", "onBusy=THROW");
                assertThat(mine.get("locks"))
                        .asString()
                        .contains("name=shown:1", "held=true", "fencingToken=" + lease.fencingToken(), "remaining=PT");
                assertThat(endpoint.lock("shown:1").get("holdfastLockClient"))
                        .asString()
                        .contains("locked=true", "fencingToken=" + lease.fencingToken());
                String holder = lease.holderId();
                assertThat(endpoint.release("shown:1", "hf-seen-before:1"))
                        .containsEntry("holdfastLockClient", Map.of("outcome", "HELD_BY_ANOTHER", "holder", holder));
                assertThat(lease.isValid()).isTrue();
                assertThat(endpoint.release("shown:1", holder))
                        .containsEntry("holdfastLockClient", Map.of("outcome", "ENDED", "holder", holder));
                await().until(() -> !lease.isValid());
                assertThatThrownBy(lease::ensureValid).isInstanceOf(io.holdfast.LeaseLostException.class);
            } catch (io.holdfast.LeaseLostException expected) {
                // The lease was lost on purpose.
            }
            assertThat(endpoint.lock("shown:1").get("holdfastLockClient"))
                    .asString()
                    .contains("locked=false");
        });
    }

    @Test
    void the_endpoint_shows_and_ends_holds_on_permits_and_read_write_locks() {
        application.run(context -> {
            LocksEndpoint endpoint = context.getBean(LocksEndpoint.class);
            LockClient client = context.getBean(LockClient.class);
            Lease lock = client.tryAcquire("shown:2").orElseThrow();
            Lease permits = client.permits("shown:2", 5).weight(2).tryAcquire().orElseThrow();
            Lease reader = client.tryAcquireRead("shown:2").orElseThrow();
            assertThat(endpoint.lock("shown:2").get("holdfastLockClient"))
                    .asString()
                    .contains(
                            "locked=true",
                            "permits={used=2, waiting=0, holders=[{holder=" + permits.holderId(),
                            "readWrite={waiting=0, holders=[{holder=" + reader.holderId(),
                            "permits=2, remaining=PT",
                            "mode=READ, remaining=PT");
            for (Lease lease : List.of(permits, reader)) {
                assertThat(endpoint.release("shown:2", lease.holderId()))
                        .containsEntry("holdfastLockClient", Map.of("outcome", "ENDED", "holder", lease.holderId()));
                await().until(() -> !lease.isValid());
            }
            assertThat(lock.isValid()).isTrue();
            assertThat(endpoint.release("shown:2", permits.holderId()))
                    .containsEntry(
                            "holdfastLockClient", Map.of("outcome", "HELD_BY_ANOTHER", "holder", lock.holderId()));
            lock.release();
            assertThat(endpoint.lock("shown:2").get("holdfastLockClient"))
                    .asString()
                    .contains("locked=false")
                    .doesNotContain("permits=", "readWrite=");
        });
    }

    @Test
    void a_forced_release_is_not_to_be_had_by_default() {
        var annotation = org.springframework.core.annotation.MergedAnnotations.from(LocksEndpoint.class)
                .get(org.springframework.boot.actuate.endpoint.annotation.Endpoint.class);
        assertThat(annotation.getEnum("defaultAccess", org.springframework.boot.actuate.endpoint.Access.class))
                .isEqualTo(org.springframework.boot.actuate.endpoint.Access.READ_ONLY);
    }

    private static long timer(MeterRegistry meters, String name, String outcome) {
        return meters.get("holdfast.lock.acquire")
                .tag("name", name)
                .tag("outcome", outcome)
                .timer()
                .count();
    }
}
