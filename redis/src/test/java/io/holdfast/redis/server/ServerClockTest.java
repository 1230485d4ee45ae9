package io.holdfast.redis.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.memory.VirtualTime;
import io.holdfast.redis.RedisLockStoreProvider;
import io.holdfast.redis.TestClient;
import io.holdfast.spi.AcquireReply.Granted;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.TimeSource;
import io.holdfast.testkit.servers.RedisServer;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

public class ServerClockTest {

    private static final Duration TIMEOUT = Duration.ofSeconds(2);

    /** This machine's time as it is when the machine was suspended for a while. */
    private static final class SuspendedTime implements TimeSource {

        private final AtomicLong lostNanos = new AtomicLong();

        @Override
        public long nanoTime() {
            return System.nanoTime() - lostNanos.get();
        }

        @Override
        public long wallMillis() {
            return System.currentTimeMillis();
        }

        @Override
        public Timer schedule(long delayNanos, Runnable task) {
            return TimeSource.system().schedule(delayNanos, task);
        }
    }

    @Test
    void followsTheServerInBothDirections() {
        SuspendedTime time = new SuspendedTime();
        ServerClock clock = new ServerClock(time);
        clock.observe(1_000_000);
        assertThat(clock.notAfterMillis(TIMEOUT)).isBetween(1_002_000L, 1_003_000L);
        clock.observe(500_000);
        assertThat(clock.notAfterMillis(TIMEOUT)).isBetween(502_000L, 503_000L);
        clock.observe(2_000_000);
        assertThat(clock.notAfterMillis(TIMEOUT)).isBetween(2_002_000L, 2_003_000L);
    }

    /** Found by simulation, seed 843091: a command was executed after the release that had been sent after it. */
    @Test
    void itTrustsItsEstimateLessTheOlderItIs() {
        VirtualTime time = new VirtualTime();
        ServerClock clock = new ServerClock(time);
        clock.observe(1_000_000);
        assertThat(clock.notAfterMillis(TIMEOUT)).isEqualTo(1_002_000);
        time.advance(Duration.ofSeconds(20));
        // The server's clock may be behind by 1 % of these 20 seconds.
        assertThat(clock.notAfterMillis(TIMEOUT)).isEqualTo(1_022_000 - 200);
        time.advance(Duration.ofHours(1));
        assertThat(clock.notAfterMillis(TIMEOUT)).isEqualTo(1_000_000 + 3_620_000 + 1_000);
    }

    /** After a suspension the estimate is too low: the command is refused as late once, and then sent again. */
    @Test
    void aSuspensionCostsOneRepetition() {
        SuspendedTime time = new SuspendedTime();
        try (RedisServer server = RedisServer.start();
                LockStore store =
                        new RedisLockStoreProvider().open(URI.create(server.uri()), new StoreContext("hf-x", time))) {
            assertThat(acquire(store, "first")).isInstanceOf(Granted.class);
            time.lostNanos.set(60_000_000_000L);
            long before = evalshas(server);
            assertThat(acquire(store, "second")).isInstanceOf(Granted.class);
            assertThat(evalshas(server) - before).isEqualTo(2);
            assertThat(acquire(store, "third")).isInstanceOf(Granted.class);
            assertThat(evalshas(server) - before).isEqualTo(3);
        }
    }

    private static Object acquire(LockStore store, String name) {
        return TestClient.get(store.acquire(AcquireRequest.queueing(name, "hf-x:1", 30_000, 1_000)));
    }

    private static long evalshas(RedisServer server) {
        return server.commandCounts().get("evalsha");
    }
}
