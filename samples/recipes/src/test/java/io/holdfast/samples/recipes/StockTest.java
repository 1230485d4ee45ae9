package io.holdfast.samples.recipes;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class StockTest {

    private static final int LEFT = 10;

    @Test
    void no_more_is_sold_than_there_is() throws Exception {
        assertThat(sold(Fleet.of(5))).isEqualTo(LEFT);
    }

    @Test
    void without_the_lock_more_is_sold_than_there_is() throws Exception {
        assertThat(sold(Fleet.withoutCommonStore(5))).isGreaterThan(LEFT);
    }

    /** Returns how many pieces are sold when each of five nodes gets four orders for one piece. */
    private static long sold(Fleet fleet) throws Exception {
        Inventory inventory = new Inventory();
        try (fleet) {
            List<Long> sold = fleet.all((locks, node) -> {
                Stock stock = new Stock(locks, inventory);
                return IntStream.range(0, 4)
                        .filter(order -> stock.reserve("chair", 1))
                        .count();
            });
            return sold.stream().mapToLong(Long::longValue).sum();
        }
    }

    private static final class Inventory implements Stock.Inventory {

        private volatile int left = LEFT;

        @Override
        public int left(String item) {
            int found = left;
            Fleet.pause();
            return found;
        }

        @Override
        public void setLeft(String item, int left) {
            this.left = left;
        }
    }
}
