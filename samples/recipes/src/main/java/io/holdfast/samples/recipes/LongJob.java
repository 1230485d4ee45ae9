package io.holdfast.samples.recipes;

import io.holdfast.Lease;
import io.holdfast.LockClient;

/** Runs an export that takes longer than a lease. */
final class LongJob {

    /** An export that is written page by page. */
    interface Export {
        boolean hasNextPage();

        void writeNextPage(long fencingToken);

        /** Makes a page that is being written end soon. Called by another thread. */
        void cancel();
    }

    private final LockClient locks;

    LongJob(LockClient locks) {
        this.locks = locks;
    }

    void run(Export export) throws InterruptedException {
        try (Lease lease = locks.acquire("export:orders")) {
            lease.onLost(export::cancel);
            while (export.hasNextPage()) {
                lease.ensureValid();
                export.writeNextPage(lease.fencingToken());
            }
        }
    }
}
