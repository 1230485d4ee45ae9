package io.holdfast.cli.torture;

import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.testkit.torture.TortureLock;
import io.holdfast.testkit.torture.TortureWorker;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The main program of a worker process: the torture's view of Holdfast. */
public final class HoldfastWorker implements TortureLock {

    private final LockClient client;

    private HoldfastWorker(TortureWorker.Setup setup) {
        client = LockClient.builder().uri(setup.uri()).leaseTime(setup.lease()).build();
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
