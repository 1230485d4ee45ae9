package io.holdfast.samples.refunds;

import io.holdfast.Lease;
import io.holdfast.spring.Locked;
import io.holdfast.spring.OnBusy;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Service;

/** Shows two cases: a refund that must happen once, and a report that must not be made twice at the same time. */
@Service
public class Refunds {

    private final Ledger ledger;

    Refunds(Ledger ledger) {
        this.ledger = ledger;
    }

    /** Refunds an order. Returns false if it was refunded before. */
    @Locked(name = "order.refund", key = "#orderId", waitTime = "30s")
    public boolean refund(long orderId, @Nullable Lease lease) {
        return ledger.writeOnce("refund:" + orderId, token(lease));
    }

    /** Makes a site's report. Returns null if another instance is making it, and false if it was made before. */
    @Locked(name = "report_data", key = "#request.siteId", waitTime = "0", leaseTime = "2s", onBusy = OnBusy.SKIP)
    public @Nullable Boolean report(SiteReportRequest request, @Nullable Lease lease) {
        return ledger.writeOnce("report:" + request.siteId() + ":" + request.day(), token(lease));
    }

    /** Returns the token of the lease, which the proxy has filled in. */
    private static long token(@Nullable Lease lease) {
        return java.util.Objects.requireNonNull(lease, "not called through the proxy")
                .fencingToken();
    }
}
