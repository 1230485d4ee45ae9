package io.holdfast.samples.recipes;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Lease;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class SharedCacheTest {

    private final AtomicInteger loads = new AtomicInteger();
    private final Values values = new Values();

    @Test
    void one_node_loads_and_the_others_wait_for_the_value() throws Exception {
        try (Fleet fleet = Fleet.of(6)) {
            assertThat(fleet.all((locks, node) -> cache(fleet, node).get("k")))
                    .hasSize(6)
                    .containsOnly("value of k");
        }
        assertThat(loads).hasValue(1);
    }

    @Test
    void without_the_lock_every_node_loads() throws Exception {
        try (Fleet fleet = Fleet.withoutCommonStore(6)) {
            fleet.all((locks, node) -> cache(fleet, node).get("k"));
        }
        assertThat(loads).hasValueGreaterThan(1);
    }

    @Test
    @Timeout(30)
    void a_lock_that_cannot_be_had_delays_the_value_only() throws Exception {
        try (Fleet fleet = Fleet.of(2)) {
            Lease stuck = fleet.node(1).acquire("cache:k");
            assertThat(cache(fleet, 0).get("k")).isEqualTo("value of k");
            stuck.release();
            fleet.node(0).close();
            assertThat(cache(fleet, 0).get("k")).isEqualTo("value of k");
        }
    }

    private SharedCache cache(Fleet fleet, int node) {
        return new SharedCache(fleet.node(node), values, key -> {
            loads.incrementAndGet();
            Fleet.pause();
            return "value of " + key;
        });
    }

    private static final class Values implements SharedCache.Cache {

        private final Map<String, String> values = new ConcurrentHashMap<>();

        @Override
        public String get(String key) {
            return values.get(key);
        }

        @Override
        public void put(String key, String value) {
            values.put(key, value);
        }
    }
}
