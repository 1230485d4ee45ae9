package io.holdfast.bench.peer;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.Permits;
import io.holdfast.testkit.servers.RedisServer;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.redisson.Redisson;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RSemaphore;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** What becomes of permits of Holdfast and of Redisson when their holder crashes, works for long, or releases twice. */
@Timeout(60)
class PeerPermitsTest {

    private static final Duration LEASE = Duration.ofSeconds(2);

    private static RedisServer server;
    private static LockClient holdfast;
    private static RedissonClient redisson;

    @BeforeAll
    static void open() {
        server = RedisServer.start();
        holdfast = holdfast(server.uri());
        redisson = redisson();
    }

    private static LockClient holdfast(String uri) {
        return LockClient.builder().uri(uri).leaseTime(LEASE).build();
    }

    private static RedissonClient redisson() {
        Config config = new Config();
        config.useSingleServer().setAddress(server.uri());
        return Redisson.create(config);
    }

    @AfterAll
    static void close() {
        holdfast.close();
        redisson.shutdown();
        server.close();
    }

    @AfterEach
    void forget() {
        server.command("FLUSHALL");
    }

    /** The server cuts one user off, for good: as if the user's process had crashed. */
    @Test
    @Tag("deep") // quick: PermitsTest
    void aPermitOfHoldfastOutlivesItsProcessByALease() throws Exception {
        server.command("ACL", "SETUSER", "mortal", "on", ">secret", "~*", "&*", "+@all");
        String uri = server.uri().replace("redis://", "redis://mortal:secret@");
        try (LockClient mortal = holdfast(uri)) {
            Lease permit = mortal.permits("crash", 1).acquire();
            server.command("ACL", "DELUSER", "mortal");
            try (Lease next = holdfast.permits("crash", 1).acquire(Duration.ofSeconds(40))) {
                assertThat(next.isValid()).isTrue();
                assertThat(permit.isValid()).isFalse();
            }
        }
    }

    @Test
    @Tag("deep") // quick: onlyAPermitOfHoldfastIsRenewed
    void aPermitOfRedissonsSemaphoreIsLostWithItsProcess() throws Exception {
        RedissonClient mortal = redisson();
        RSemaphore semaphore = mortal.getSemaphore("crash");
        semaphore.trySetPermits(1);
        semaphore.acquire();
        // It releases nothing, as a crash would not.
        mortal.shutdown();
        assertThat(redisson.getSemaphore("crash").tryAcquire(Duration.ofSeconds(3)))
                .isFalse();
        assertThat(server.command("PTTL", "crash")).as("no expiry").isEqualTo(-1L);
    }

    @Test
    void onlyAPermitOfHoldfastIsRenewed() throws Exception {
        RPermitExpirableSemaphore semaphore = redisson.getPermitExpirableSemaphore("long");
        semaphore.trySetPermits(1);
        String first = semaphore.acquire(LEASE.toMillis(), MILLISECONDS);
        Permits permits = holdfast.permits("work", 1);
        try (Lease permit = permits.acquire()) {
            Thread.sleep(LEASE.toMillis() + 500);
            assertThat(permit.isValid()).isTrue();
            assertThat(permits.tryAcquire()).isEmpty();
        }
        // The first user still works.
        assertThat(semaphore.tryAcquire()).isNotNull().isNotEqualTo(first);
    }

    @Test
    void aSecondReleaseOfRedissonsSemaphoreMakesAnotherPermit() throws Exception {
        RSemaphore semaphore = redisson.getSemaphore("twice");
        semaphore.trySetPermits(1);
        semaphore.acquire();
        semaphore.release();
        semaphore.release();
        assertThat(semaphore.tryAcquire(2)).isTrue();

        Permits permits = holdfast.permits("twice", 1);
        Lease permit = permits.acquire();
        permit.release();
        permit.release();
        try (Lease only = permits.acquire()) {
            assertThat(only.isValid()).isTrue();
            assertThat(permits.tryAcquire()).isEmpty();
        }
    }
}
