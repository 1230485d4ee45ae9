package io.holdfast.samples.quarkus;

import io.holdfast.cdi.Locked;
import io.holdfast.cdi.ScheduledLock;
import io.quarkus.scheduler.Scheduled;
import jakarta.enterprise.context.ApplicationScoped;

/** The first code of docs/cdi.md, which is compiled only: {@link Invoices} runs with the same annotations. */
@ApplicationScoped
public class Refunds {

    @Locked(name = "order.refund", key = "{orderId}")
    public void refund(long orderId) {}

    @Scheduled(cron = "0 0 3 * * ?")
    @ScheduledLock(name = "nightly", atLeast = "1m")
    void nightly() {}
}
