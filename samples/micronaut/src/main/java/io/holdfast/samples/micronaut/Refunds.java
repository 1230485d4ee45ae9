package io.holdfast.samples.micronaut;

import io.holdfast.LockClient;
import io.micronaut.scheduling.annotation.Scheduled;
import jakarta.inject.Singleton;

/** An order is refunded by one caller at a time, and one process at a time cleans up. */
@Singleton
class Refunds {

    private final LockClient locks;
    private final Orders orders;

    Refunds(LockClient locks, Orders orders) {
        this.locks = locks;
        this.orders = orders;
    }

    @Locked("order.refund:#{orderId}")
    void refund(long orderId) {
        orders.refund(orderId);
    }

    @Scheduled(fixedDelay = "1h")
    void cleanUp() {
        var unused = locks.tryRun("job:cleanup", lease -> orders.cleanUp());
    }
}
