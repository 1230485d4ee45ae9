package io.holdfast.micrometer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.Leadership;
import io.holdfast.LeadershipListener;
import io.holdfast.LeadershipOptions;
import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.OnceOutcome;
import io.holdfast.Term;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class HoldfastMetricsTest {

    private final MeterRegistry registry = new SimpleMeterRegistry();
    private final HoldfastMetrics metrics =
            new HoldfastMetrics(HoldfastMetrics.prefixes(Set.of("order:refund", "job")));
    private final LockClient client = client("memory:metrics");

    private LockClient client(String uri) {
        LockClient made = LockClient.builder()
                .uri(uri)
                .leaseTime(Duration.ofSeconds(1))
                .listener(metrics)
                .build();
        metrics.watch(made).bindTo(registry);
        return made;
    }

    @AfterEach
    void close() {
        client.close();
    }

    @Test
    void counts_what_happens_to_locks_by_the_constant_part_of_their_names() throws Exception {
        EveryMeter.useLocks(client);
        await().untilAsserted(() -> {
            assertThat(timer("holdfast.lock.acquire", "name", "order:refund", "outcome", "acquired"))
                    .isEqualTo(2);
            assertThat(timer("holdfast.lock.acquire", "name", "order:refund", "outcome", "timed_out"))
                    .isEqualTo(1);
            assertThat(timer("holdfast.lock.held", "name", "order:refund")).isEqualTo(2);
            assertThat(timer("holdfast.lock.held", "name", HoldfastMetrics.OTHER))
                    .isEqualTo(1);
            assertThat(counter("holdfast.lock.handoffs", "name", "order:refund"))
                    .isEqualTo(1);
            assertThat(counter("holdfast.lease.lost", "name", "job")).isEqualTo(1);
        });
        // A lost lease ends too.
        assertThat(timer("holdfast.lock.held", "name", "job")).isEqualTo(1);
    }

    /** The code of docs/metrics.md. */
    @Test
    void the_code_of_the_page_counts() throws InterruptedException {
        String uri = "memory:page";
        MeterRegistry registry = new SimpleMeterRegistry();
        HoldfastMetrics metrics = new HoldfastMetrics(HoldfastMetrics.prefixes(Set.of("order:refund", "job")));
        LockClient locks = LockClient.builder().uri(uri).listener(metrics).build();
        metrics.watch(locks).bindTo(registry);
        try (locks;
                Lease lease = locks.acquire("order:refund:42")) {
            await().untilAsserted(() -> assertThat(registry.get("holdfast.lock.active")
                            .tag("name", "order:refund")
                            .gauge()
                            .value())
                    .isEqualTo(1));
            assertThat(lease.isValid()).isTrue();
        }
    }

    /** The alert "any increase" of Prometheus misses a first loss if the counter begins with it. */
    @Test
    void the_counters_for_alerts_begin_at_zero() throws InterruptedException {
        assertThat(counter("holdfast.store.reconnects")).isZero();
        assertThat(counter("holdfast.clock.jumps")).isZero();
        client.acquire("job:1").release();
        await().untilAsserted(() -> {
            assertThat(counter("holdfast.lease.lost", "name", "job")).isZero();
            assertThat(counter("holdfast.renewal.failures", "name", "job")).isZero();
        });
    }

    @Test
    void gauges_add_up_several_clients() throws Exception {
        try (LockClient second = client("memory:metrics-2");
                Lease here = client.acquire("job:1");
                Lease there = second.acquire("job:2")) {
            metrics.watch(second);
            var waits = client.acquireAsync("job:1").toCompletableFuture();
            await().untilAsserted(() -> {
                assertThat(gauge("holdfast.lock.active", "name", "job")).isEqualTo(2);
                assertThat(gauge("holdfast.lock.waiting", "name", "job")).isEqualTo(1);
                assertThat(registry.get("holdfast.lock.oldest.wait").timeGauge().value())
                        .isPositive();
            });
            // On a busy machine a renewal may be sent late, and lags for that time.
            await().until(() -> registry.get("holdfast.renewal.lag").timeGauge().value() == 0);
            await().until(() -> registry.find("holdfast.renewal").timer() != null);
            waits.cancel(true);
            assertThat(here.isValid()).isTrue();
            assertThat(there.isValid()).isTrue();
        }
    }

    /** All names share a tag here; the tags of the kinds differ. */
    @Test
    void permits_and_leaderships_are_counted_as_kinds_of_their_own() throws Exception {
        HoldfastMetrics coarse = new HoldfastMetrics();
        MeterRegistry there = new SimpleMeterRegistry();
        try (LockClient kinds = LockClient.builder()
                        .uri("memory:kinds")
                        .listener(coarse)
                        .build();
                Leadership leader = kinds.leadership("billing", term -> {});
                Lease lock = kinds.acquire("export");
                Lease one = kinds.permits("export", 2).acquire();
                Lease two = kinds.permits("export", 2).acquire()) {
            coarse.watch(kinds).bindTo(there);
            assertThat(List.of(lock, one, two)).allMatch(Lease::isValid);
            assertThat(kinds.permits("export", 2).weight(2).tryAcquire()).isEmpty();
            Lease another = kinds.acquire("another");
            another.release();
            var waits = kinds.permits("export", 2).acquireAsync().toCompletableFuture();
            await().untilAsserted(() -> {
                assertThat(there.get("holdfast.lock.acquire")
                                .tags("name", "other", "kind", "permits", "outcome", "timed_out")
                                .timer()
                                .count())
                        .isEqualTo(1);
                assertThat(there.get("holdfast.lock.active")
                                .tags("name", "other", "kind", "permits")
                                .gauge()
                                .value())
                        .isEqualTo(2);
                assertThat(there.get("holdfast.lock.waiting")
                                .tags("name", "other", "kind", "permits")
                                .gauge()
                                .value())
                        .isEqualTo(1);
                assertThat(there.get("holdfast.lock.active")
                                .tags("name", "other", "kind", "lock")
                                .gauge()
                                .value())
                        .isEqualTo(1);
            });
            waits.cancel(true);
            assertThat(leader.name()).isEqualTo("billing");
        }
    }

    @Test
    void readers_and_writers_are_counted_as_kinds_of_their_own() throws Exception {
        HoldfastMetrics coarse = new HoldfastMetrics();
        MeterRegistry there = new SimpleMeterRegistry();
        try (LockClient kinds = LockClient.builder()
                        .uri("memory:halves")
                        .listener(coarse)
                        .build();
                Lease lock = kinds.acquire("catalog");
                Lease one = kinds.acquireRead("catalog");
                Lease two = kinds.acquireRead("catalog")) {
            coarse.watch(kinds).bindTo(there);
            assertThat(List.of(lock, one, two)).allMatch(Lease::isValid);
            assertThat(kinds.tryAcquireWrite("catalog")).isEmpty();
            kinds.acquireRead("catalog").release();
            kinds.acquire("another").release();
            var waits = kinds.acquireWriteAsync("catalog").toCompletableFuture();
            await().untilAsserted(() -> {
                assertThat(there.get("holdfast.lock.acquire")
                                .tags("name", "other", "kind", "write", "outcome", "timed_out")
                                .timer()
                                .count())
                        .isEqualTo(1);
                assertThat(active(there, "read")).isEqualTo(2);
                assertThat(active(there, "lock")).isEqualTo(1);
                assertThat(there.get("holdfast.lock.waiting")
                                .tags("name", "other", "kind", "write")
                                .gauge()
                                .value())
                        .isEqualTo(1);
            });
            waits.cancel(true);
        }
    }

    private static double active(MeterRegistry registry, String kind) {
        return registry.get("holdfast.lock.active")
                .tags("name", "other", "kind", kind)
                .gauge()
                .value();
    }

    @Test
    void events_of_the_store_have_their_meters() {
        EveryMeter.disturb(metrics);
        assertThat(counter("holdfast.store.errors", "command", "renew", "outcome", "unknown"))
                .isEqualTo(1);
        assertThat(counter("holdfast.renewal.failures", "name", "job")).isEqualTo(1);
        assertThat(counter("holdfast.store.reconnects")).isEqualTo(1);
        assertThat(counter("holdfast.clock.jumps")).isEqualTo(1);
    }

    @Test
    void work_that_is_done_once_is_counted_by_how_its_calls_end() {
        metrics.once("order:refund:1", OnceOutcome.DONE);
        metrics.once("order:refund:1", OnceOutcome.REPEATED);
        metrics.once("order:refund:2", OnceOutcome.REPEATED);
        assertThat(counter("holdfast.once", "name", "order:refund", "outcome", "done"))
                .isEqualTo(1);
        assertThat(counter("holdfast.once", "name", "order:refund", "outcome", "repeated"))
                .isEqualTo(2);
        // An alert sees the first one.
        assertThat(counter("holdfast.once", "name", "order:refund", "outcome", "conflict"))
                .isZero();
    }

    @Test
    void a_leadership_has_its_meters_from_the_first_candidate_on() throws Exception {
        try (Leadership leader = client.leadership("billing", term -> {})) {
            await().untilAsserted(() -> assertThat(counter("holdfast.leader.terms", "name", "billing"))
                    .isEqualTo(1));
            assertThat(gauge("holdfast.leader", "name", "billing")).isEqualTo(1);
            assertThat(leader.isLeader()).isTrue();

            HoldfastMetrics standby = new HoldfastMetrics();
            MeterRegistry there = new SimpleMeterRegistry();
            try (LockClient second = LockClient.builder()
                            .uri("memory:metrics")
                            .listener(standby)
                            .build();
                    Leadership waits = second.leadership("billing", term -> {})) {
                // Begun before the binding, as in an application whose registry comes last.
                standby.watch(second).bindTo(there);
                assertThat(there.get("holdfast.leader")
                                .tag("name", "billing")
                                .gauge()
                                .value())
                        .isZero();
                assertThat(waits.isLeader()).isFalse();
                // An alert is on it, and a candidate may wait for months.
                await().until(() -> second.localLocks().stream()
                        .anyMatch(lock -> !lock.longestWait().isZero()));
                assertThat(there.get("holdfast.lock.oldest.wait").timeGauge().value())
                        .isZero();
            }
        }
        assertThat(gauge("holdfast.leader", "name", "billing")).isZero();
        assertThat(counter("holdfast.leader.overdue", "name", "billing")).isZero();
    }

    @Test
    void a_term_whose_listener_did_not_stop_in_time_is_counted() throws Exception {
        CountDownLatch elected = new CountDownLatch(1);
        CountDownLatch stop = new CountDownLatch(1);
        LeadershipListener stuck = new LeadershipListener() {
            @Override
            public void onElected(Term term) {
                elected.countDown();
            }

            @Override
            public void onRevoked(Term term) throws InterruptedException {
                stop.await();
            }
        };
        LeadershipOptions quick = LeadershipOptions.defaults().stopWithin(Duration.ofMillis(50));
        try (Leadership leader = client.leadership("stuck", stuck, quick)) {
            elected.await();
            leader.resign();
            await().untilAsserted(() -> assertThat(counter("holdfast.leader.overdue", "name", "stuck"))
                    .isEqualTo(1));
            stop.countDown();
        }
    }

    @Test
    void bound_twice_it_counts_once_and_in_two_registries_in_each() throws Exception {
        MeterRegistry second = new SimpleMeterRegistry();
        metrics.bindTo(registry);
        metrics.bindTo(second);
        client.acquire("job:1").close();
        await().untilAsserted(() -> {
            assertThat(timer("holdfast.lock.held", "name", "job")).isEqualTo(1);
            assertThat(second.get("holdfast.lock.held").timer().count()).isEqualTo(1);
        });
    }

    /** Prometheus refuses a name with other tag keys, and shows the help text. */
    @Test
    void each_meter_has_a_help_text_a_unit_and_the_same_tag_keys_and_never_a_key() throws Exception {
        EveryMeter.count(metrics, client);
        await().until(() ->
                registry.find("holdfast.lock.held").tag("name", "other").timer() != null);
        Map<String, List<String>> keys = new HashMap<>();
        assertThat(registry.getMeters()).hasSizeGreaterThan(15).allSatisfy(meter -> {
            Meter.Id id = meter.getId();
            assertThat(id.getName()).startsWith("holdfast.");
            assertThat(id.getDescription()).as(id.getName()).isNotBlank();
            assertThat(id.getBaseUnit()).as(id.getName()).isNotBlank();
            List<String> tags = id.getTags().stream().map(tag -> tag.getKey()).toList();
            assertThat(keys.computeIfAbsent(id.getName(), name -> tags)).isEqualTo(tags);
        });
        assertThat(registry.getMeters().stream()
                        .map(meter -> meter.getId().getTag("name"))
                        .filter(tag -> tag != null)
                        .collect(Collectors.toSet()))
                .containsExactlyInAnyOrder("order:refund", "job", "other", "nightly");
    }

    private long timer(String meter, String... tags) {
        return registry.get(meter).tags(tags).timer().count();
    }

    private double counter(String meter, String... tags) {
        return registry.get(meter).tags(tags).counter().count();
    }

    private double gauge(String meter, String... tags) {
        return registry.get(meter).tags(tags).gauge().value();
    }
}
