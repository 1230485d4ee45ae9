package io.holdfast.samples.recipes;

import io.holdfast.LockClient;

/** Refunds an order once, however many nodes are asked for it. */
final class RefundOnce {

    /** Where refunds are recorded, for example a table. */
    interface Ledger {
        boolean hasRefund(String orderId);

        void recordRefund(String orderId, long fencingToken);
    }

    /** The system that pays. */
    interface Payments {
        /** Pays once for each key. */
        void payBack(String orderId, String idempotencyKey);
    }

    private final LockClient locks;
    private final Ledger ledger;
    private final Payments payments;

    RefundOnce(LockClient locks, Ledger ledger, Payments payments) {
        this.locks = locks;
        this.ledger = ledger;
        this.payments = payments;
    }

    /** Returns false if the order was refunded before. */
    boolean refund(String orderId) throws InterruptedException {
        return locks.call("order:refund:" + orderId, lease -> {
            if (ledger.hasRefund(orderId)) {
                return false;
            }
            payments.payBack(orderId, "refund:" + orderId);
            ledger.recordRefund(orderId, lease.fencingToken());
            return true;
        });
    }
}
