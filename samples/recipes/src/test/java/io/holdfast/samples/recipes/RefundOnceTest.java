package io.holdfast.samples.recipes;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;

class RefundOnceTest {

    @Test
    void an_order_is_refunded_once() throws Exception {
        assertThat(payments(Fleet.of(6))).containsExactly("17 by refund:17");
    }

    @Test
    void without_the_lock_an_order_is_refunded_more_than_once() throws Exception {
        assertThat(payments(Fleet.withoutCommonStore(6))).hasSizeGreaterThan(1);
    }

    private static Queue<String> payments(Fleet fleet) throws Exception {
        Queue<String> payments = new ConcurrentLinkedQueue<>();
        Ledger ledger = new Ledger();
        try (fleet) {
            fleet.all((locks, node) ->
                    new RefundOnce(locks, ledger, (order, key) -> payments.add(order + " by " + key)).refund("17"));
        }
        return payments;
    }

    private static final class Ledger implements RefundOnce.Ledger {

        private final Set<String> refunded = ConcurrentHashMap.newKeySet();

        @Override
        public boolean hasRefund(String orderId) {
            boolean found = refunded.contains(orderId);
            Fleet.pause();
            return found;
        }

        @Override
        public void recordRefund(String orderId, long fencingToken) {
            refunded.add(orderId);
        }
    }
}
