package io.holdfast.samples.recipes;

import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.LockClient;
import io.holdfast.LockStoreException;
import java.util.concurrent.CountDownLatch;

/** Lets one node of the fleet lead, until it ends or loses its lease. */
final class Leader {

    /** What the leader does. */
    interface Duties {
        void start(long fencingToken);

        /** Returns when nothing runs any more. */
        void stop();
    }

    private final LockClient locks;
    private final Duties duties;

    Leader(LockClient locks, Duties duties) {
        this.locks = locks;
        this.duties = duties;
    }

    /** Stands for election until the thread is interrupted. Give it a thread of its own. */
    void run() throws InterruptedException {
        while (true) {
            try (Lease lease = locks.acquire("leader:reports")) {
                CountDownLatch lost = new CountDownLatch(1);
                lease.onLost(lost::countDown);
                try {
                    duties.start(lease.fencingToken());
                    lost.await();
                } finally {
                    duties.stop();
                }
            } catch (LeaseLostException | LockStoreException e) {
                Thread.sleep(1_000);
            }
        }
    }
}
