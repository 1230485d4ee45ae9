package io.holdfast.samples.recipes;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CyclicBarrier;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

class PricesTest {

    private final Map<String, String> table = new ConcurrentHashMap<>(Map.of("chair", "10"));
    private final Values cache = new Values();

    @Test
    void an_old_price_is_not_put_in_after_a_change() throws Exception {
        assertThat(cachedAfterChange(Fleet.of(2))).isNull();
    }

    @Test
    void without_the_lock_the_old_price_stays_in_the_cache() throws Exception {
        assertThat(cachedAfterChange(Fleet.withoutCommonStore(2))).isEqualTo("10");
    }

    @Test
    void readers_fill_the_cache_at_once() throws Exception {
        CyclicBarrier both = new CyclicBarrier(2);
        try (Fleet fleet = Fleet.of(2)) {
            assertThat(fleet.all((locks, node) -> prices(fleet, node, price -> {
                                try {
                                    both.await(20, SECONDS);
                                } catch (Exception e) {
                                    throw new AssertionError(e);
                                }
                                return price;
                            })
                            .price("chair")))
                    .containsExactly("10", "10");
        }
        assertThat(cache.get("chair")).isEqualTo("10");
    }

    /** A reader has loaded the price, and has not put it into the cache yet, when another node changes the price. */
    private String cachedAfterChange(Fleet fleet) throws Exception {
        CompletableFuture<String> changed = new CompletableFuture<>();
        try (fleet) {
            prices(fleet, 0, price -> {
                        changed.completeAsync(() -> change(fleet));
                        await().until(() -> changed.isDone()
                                || fleet.node(1).localLocks().stream().anyMatch(lock -> lock.waiting() > 0));
                        return price;
                    })
                    .price("chair");
            changed.get(20, SECONDS);
            assertThat(table).containsEntry("chair", "20");
            return cache.get("chair");
        }
    }

    private String change(Fleet fleet) {
        try {
            prices(fleet, 1, price -> price).change("chair", "20");
            return "changed";
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** @param then what happens when a price has been loaded, which it returns */
    private Prices prices(Fleet fleet, int node, UnaryOperator<String> then) {
        return new Prices(fleet.node(node), cache, new Prices.Database() {
            @Override
            public String price(String item) {
                return then.apply(table.get(item));
            }

            @Override
            public void setPrice(String item, String price, long fencingToken) {
                table.put(item, price);
            }
        });
    }

    static final class Values implements Prices.Cache {

        private final Map<String, String> values = new ConcurrentHashMap<>();

        @Override
        public String get(String item) {
            return values.get(item);
        }

        @Override
        public void put(String item, String price) {
            values.put(item, price);
        }

        @Override
        public void remove(String item) {
            values.remove(item);
        }
    }
}
