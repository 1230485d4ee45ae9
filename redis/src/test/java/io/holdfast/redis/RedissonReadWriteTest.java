package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.spi.AcquireReply;
import io.holdfast.spi.RenewReply;
import io.holdfast.testkit.servers.RedisServer;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RReadWriteLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** What Redisson's read-write lock does to a name that is held here: it does not look at plain locks. */
@Timeout(60)
class RedissonReadWriteTest {

    private static RedisServer server;
    private static TestClient ours;
    private static RedissonClient theirs;

    @BeforeAll
    static void open() {
        server = RedisServer.start();
        ours = new TestClient(server.uri());
        Config config = new Config();
        config.useSingleServer().setAddress(server.uri()).setConnectionMinimumIdleSize(2);
        theirs = Redisson.create(config);
    }

    @AfterAll
    static void close() {
        theirs.shutdown();
        ours.close();
        server.close();
    }

    @Test
    void our_acquire_finds_them_busy() {
        RReadWriteLock pair = theirs.getReadWriteLock("theirs");
        for (RLock lock : List.of(pair.readLock(), pair.writeLock())) {
            lock.lock(30, TimeUnit.SECONDS);
            assertThat(ours.acquire("theirs", ours.newHolder(), 1_000, false)).isInstanceOf(AcquireReply.Busy.class);
            lock.unlock();
        }
    }

    @Test
    void a_read_lock_takes_a_held_name_shortens_the_hold_and_ends_it() throws Exception {
        String holder = ours.hold("read");
        RLock lock = theirs.getReadWriteLock("read").readLock();
        assertThat(lock.tryLock(0, 5, TimeUnit.SECONDS)).isTrue();
        assertThat(left("read")).isLessThanOrEqualTo(5_000);

        // The server does nothing else until this has ended.
        lock.unlock();
        assertThat(ours.renew("read", holder, 30_000)).isInstanceOf(RenewReply.Gone.class);
    }

    @Test
    void a_write_lock_takes_a_held_name_and_shortens_the_hold() throws Exception {
        String holder = ours.hold("write");
        RLock lock = theirs.getReadWriteLock("write").writeLock();
        assertThat(lock.tryLock(0, 5, TimeUnit.SECONDS)).isTrue();
        assertThat(left("write")).isLessThanOrEqualTo(5_000);

        lock.unlock();
        assertThat(ours.renew("write", holder, 30_000)).isInstanceOf(RenewReply.Renewed.class);
        assertThat(ours.release("write", holder)).isTrue();
    }

    /** Redisson has set the expiry. Without it, the name would be busy forever if its holder died. */
    @Test
    void our_release_leaves_their_lock_its_expiry() throws Exception {
        String holder = ours.hold("kept");
        RLock lock = theirs.getReadWriteLock("kept").writeLock();
        assertThat(lock.tryLock(0, 5, TimeUnit.SECONDS)).isTrue();
        assertThat(ours.release("kept", holder)).isTrue();
        assertThat(left("kept")).isBetween(1L, 5_000L);
        lock.unlock();
        assertThat(left("kept")).isEqualTo(-2);

        holder = ours.hold("after");
        lock = theirs.getReadWriteLock("after").writeLock();
        assertThat(lock.tryLock(0, 5, TimeUnit.SECONDS)).isTrue();
        lock.unlock();
        assertThat(ours.release("after", holder)).isTrue();
        assertThat(server.command("HGETALL", "after")).hasToString("[mode, read]");
        assertThat(left("after")).isBetween(1L, 5_000L);
    }

    private static long left(String name) {
        return (Long) Objects.requireNonNull(server.command("PTTL", name));
    }
}
