package io.holdfast.bench.torture;

import io.holdfast.testkit.torture.TortureLock;
import io.holdfast.testkit.torture.TortureWorker;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.redisson.Redisson;
import org.redisson.api.RFencedLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** The main program of a worker process: the torture's view of Redisson's fenced lock. */
public final class RedissonWorker implements TortureLock {

    private final RedissonClient client;

    private RedissonWorker(TortureWorker.Setup setup) {
        Config config = new Config();
        config.setLockWatchdogTimeout(setup.lease().toMillis());
        config.useSingleServer().setAddress(setup.uri());
        client = Redisson.create(config);
    }

    public static void main(String[] args) throws IOException, InterruptedException {
        TortureWorker.run(RedissonWorker::new);
    }

    @Override
    public Optional<Grip> acquire(String name, Duration wait, @Nullable Duration lease) {
        RFencedLock lock = client.getFencedLock(name);
        // A lease of -1 is renewed.
        Long token =
                lock.tryLockAndGetToken(wait.toMillis(), lease == null ? -1 : lease.toMillis(), TimeUnit.MILLISECONDS);
        return token == null ? Optional.empty() : Optional.of(new FencedGrip(lock, token));
    }

    private record FencedGrip(RFencedLock lock, long token) implements Grip {
        /** Asks the server: Redisson keeps no deadline of its own. */
        @Override
        public boolean isValid() {
            return lock.isHeldByCurrentThread();
        }

        @Override
        public boolean release() {
            try {
                lock.unlock();
                return true;
            } catch (IllegalMonitorStateException e) {
                return false;
            }
        }
    }
}
