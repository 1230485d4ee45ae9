package io.holdfast.demo.torture;

import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.LockStoreException;
import io.holdfast.testkit.torture.TortureLock;
import io.holdfast.testkit.torture.TortureWorker;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** The main program of a worker process: the torture's view of Holdfast. */
public final class HoldfastWorker implements TortureLock {

    private static final Duration CONNECT_AT_MOST = Duration.ofSeconds(60);
    private static final Duration PAUSE = Duration.ofMillis(200);

    private final LockClient client;

    private HoldfastWorker(TortureWorker.Setup setup) {
        client = connect(setup);
    }

    /** The servers may be down just now: that is part of it. */
    private static LockClient connect(TortureWorker.Setup setup) {
        long end = System.nanoTime() + CONNECT_AT_MOST.toNanos();
        while (true) {
            try {
                return LockClient.builder()
                        .uri(setup.uri())
                        .leaseTime(setup.lease())
                        .build();
            } catch (LockStoreException e) {
                if (System.nanoTime() - end >= 0) {
                    throw e;
                }
                LockSupport.parkNanos(PAUSE.toNanos());
            }
        }
    }

    public static void main(String[] args) throws IOException, InterruptedException {
        TortureWorker.run(HoldfastWorker::new);
    }

    @Override
    public Optional<Grip> acquire(String name, Duration wait, @Nullable Duration lease) throws InterruptedException {
        LockOptions options = LockOptions.defaults().waitAtMost(wait);
        return client.tryAcquire(name, lease == null ? options : options.leaseFor(lease))
                .map(LeaseGrip::new);
    }

    @Override
    public Optional<Grip> acquirePermits(String name, int weight, int limit, Duration wait, @Nullable Duration lease)
            throws InterruptedException {
        LockOptions options = LockOptions.defaults().waitAtMost(wait);
        return client.permits(name, limit)
                .weight(weight)
                .tryAcquire(lease == null ? options : options.leaseFor(lease))
                .map(LeaseGrip::new);
    }

    @Override
    public Optional<Grip> acquireShare(String name, boolean isWriter, Duration wait, @Nullable Duration lease)
            throws InterruptedException {
        LockOptions bounded = LockOptions.defaults().waitAtMost(wait);
        LockOptions options = lease == null ? bounded : bounded.leaseFor(lease);
        return (isWriter ? client.tryAcquireWrite(name, options) : client.tryAcquireRead(name, options))
                .map(LeaseGrip::new);
    }

    private record LeaseGrip(Lease lease) implements Grip {
        @Override
        public long token() {
            return lease.fencingToken();
        }

        @Override
        public boolean isValid() {
            return lease.isValid();
        }

        @Override
        public boolean release() {
            try {
                lease.release();
                return true;
            } catch (LeaseLostException e) {
                return false;
            }
        }
    }
}
