package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LockClient;
import io.holdfast.LockStoreException;
import io.holdfast.testkit.servers.RedisServer;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The mode {@code commands} and RedLock have no permits, no read-write locks and no {@code once}, and say so in one
 * sentence.
 */
class NoPoolsTest {

    private static ThreeServers servers;

    @BeforeAll
    static void start() {
        servers = ThreeServers.start();
    }

    @AfterAll
    static void stop() {
        servers.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"commands", "redlock"})
    void permits_and_read_write_locks_are_refused_and_leave_nothing(String kind) throws Exception {
        try (LockClient locks = LockClient.connect(servers.uri(kind, ""))) {
            assertRefused(() -> locks.permits("exports", 5).acquire());
            assertRefused(() -> locks.permits("exports", 5).tryAcquire());
            assertRefused(() -> locks.getReadWriteLock("catalog").readLock().lock());
            assertRefused(() -> locks.getReadWriteLock("catalog").writeLock().tryLock());
            for (RedisServer server : servers.all()) {
                assertThat(server.command("KEYS", "*exports*")).isEqualTo(List.of());
                assertThat(server.command("KEYS", "*catalog*")).isEqualTo(List.of());
            }
            // A lock works there.
            locks.acquire("export").release();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"commands", "redlock"})
    void work_that_is_done_once_is_refused_before_it_is_done(String kind) {
        try (LockClient locks = LockClient.connect(servers.uri(kind, ""))) {
            assertThatThrownBy(() -> locks.once().run("payment:1", "", lease -> {
                        throw new AssertionError("done");
                    }))
                    .isInstanceOf(LockStoreException.class)
                    .hasMessageContaining("keeps no results of work that is done once (expected: Redis in mode lua,");
            assertThat(locks.inspect("payment:1").isLocked()).isFalse();
        }
    }

    private static void assertRefused(ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOf(LockStoreException.class)
                .hasMessageContaining("has no permits and no read-write locks");
    }
}
