package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.spi.AcquireReply;
import io.holdfast.spi.StoreException;
import io.holdfast.testkit.RedisServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A server without memory for another key: nothing is granted, and nothing is left that never ends. */
class FullMemoryTest {

    private RedisServer server;
    private TestClient one;
    private TestClient two;

    @BeforeEach
    void open() {
        server = RedisServer.start();
        one = new TestClient(server.uri());
        two = new TestClient(server.uri());
    }

    @AfterEach
    void close() {
        one.close();
        two.close();
        server.close();
    }

    @Test
    void an_acquire_is_refused_with_a_reason_and_works_again_when_there_is_memory() {
        fill(true);
        assertThatThrownBy(() -> one.hold("a"))
                .isInstanceOf(StoreException.class)
                .hasMessageContaining("maxmemory")
                .extracting(e -> ((StoreException) e).outcome())
                .isEqualTo(StoreException.Outcome.NOT_EXECUTED);
        assertThat(server.command("EXISTS", "a")).isEqualTo(0L);
        fill(false);

        one.hold("a");
    }

    @Test
    void a_hold_is_renewed_and_released_all_the_same() {
        String held = one.hold("a");
        fill(true);

        assertThat(one.renew("a", held, 60_000)).isInstanceOf(io.holdfast.spi.RenewReply.Renewed.class);
        assertThat((Long) server.command("PTTL", "a")).isGreaterThan(30_000);
        assertThat(one.release("a", held)).isTrue();
    }

    @Test
    void a_release_with_somebody_waiting_leaves_the_lock_free_or_passed_on_and_never_without_expiry() {
        String held = one.hold("a");
        String waiting = two.newHolder();
        assertThat(two.acquire("a", waiting, 30_000, true)).isInstanceOf(AcquireReply.Busy.class);
        fill(true);
        try {
            assertThat(one.release("a", held)).isTrue();
        } catch (StoreException refused) {
            // Which of the two it is depends on the server's version: some check only the first write of a script.
            assertThat(refused).hasMessageContaining("maxmemory");
            assertThat(server.command("EXISTS", "a")).isEqualTo(0L);
        }
        assertThat((Long) server.command("PTTL", "a")).isNotEqualTo(-1L);
        fill(false);

        assertThat(two.acquire("a", waiting, 30_000, true)).isInstanceOf(AcquireReply.Granted.class);
        assertThat((Long) server.command("PTTL", "a")).isPositive();
    }

    private void fill(boolean full) {
        server.command("CONFIG", "SET", "maxmemory-policy", "noeviction");
        server.command("CONFIG", "SET", "maxmemory", full ? "1" : "0");
    }
}
