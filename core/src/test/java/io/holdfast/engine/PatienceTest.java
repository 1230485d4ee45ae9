package io.holdfast.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.engine.ProbeStore.Fate;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreContext;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.logging.Level;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** For how long waiters tolerate a store that fails: by default until it has noticed a dead connection and recovered. */
class PatienceTest extends EngineFixture {

    final LockClient other = client("other");
    final Warnings log = new Warnings(Level.WARNING);

    @AfterEach
    void close() {
        log.close();
    }

    /** Returns a store that needs so long for a new connection. */
    private ProbeStore slow(Duration recovery) {
        LockStore own = server.connect(new StoreContext("patient", time));
        return new ProbeStore(own) {
            @Override
            public Duration recovery() {
                return recovery;
            }
        };
    }

    private LockClient patient(ProbeStore behind, @Nullable Duration storeTimeout) {
        return client("patient", behind, settings -> settings.storeTimeout = storeTimeout);
    }

    /** Returns whether a waiter gets the lock that is released before the store is back after so long. */
    private boolean waitsOut(ProbeStore behind, LockClient client, Duration outage) {
        Lease held = now(acquire(other, "a"));
        CompletableFuture<Lease> waiting = acquire(client, "a");
        advance(100);
        behind.acquires = Fate.FAIL;
        behind.messages = false;
        time.advance(outage);
        behind.acquires = Fate.PASS;
        behind.messages = true;
        held.release();
        advance(2_000);
        boolean got = !waiting.isCompletedExceptionally();
        if (got) {
            now(waiting).release();
        }
        return got;
    }

    @Test
    void by_default_a_waiter_waits_until_a_dead_connection_is_noticed_and_made_anew() {
        ProbeStore slow = slow(Duration.ofSeconds(9));
        assertThat(waitsOut(slow, patient(slow, null), Duration.ofMillis(8_500)))
                .isTrue();
        assertThat(log.said(Level.WARNING, "store timeout")).isEmpty();
    }

    @Test
    void but_no_longer() {
        ProbeStore slow = slow(Duration.ofSeconds(9));
        assertThat(waitsOut(slow, patient(slow, null), Duration.ofMillis(9_500)))
                .isFalse();
    }

    @Test
    void five_seconds_are_the_least() {
        ProbeStore fast = slow(Duration.ofMillis(300));
        LockClient client = patient(fast, null);
        assertThat(waitsOut(fast, client, Duration.ofMillis(4_500))).isTrue();
        assertThat(waitsOut(fast, client, Duration.ofMillis(5_500))).isFalse();
    }

    @Test
    void a_shorter_setting_counts_and_is_logged_once() {
        ProbeStore slow = slow(Duration.ofSeconds(9));
        LockClient client = patient(slow, Duration.ofSeconds(5));
        assertThat(waitsOut(slow, client, Duration.ofMillis(5_500))).isFalse();
        java.util.Objects.requireNonNull(slow.listener).reconnected();
        assertThat(log.said(Level.WARNING, "store timeout"))
                .containsExactly("The store timeout of 5 s is shorter than the 9 s that probe may need to notice a dead"
                        + " connection and to answer on a new one, so waiters fail when a connection dies (expected: at"
                        + " least 9 s, or no storeTimeout, or a shorter command timeout)");
    }

    @Test
    void a_setting_that_suffices_is_not_logged() {
        patient(slow(Duration.ofSeconds(9)), Duration.ofSeconds(9));
        assertThat(log.said(Level.WARNING, "")).isEmpty();
    }

    /** A store that could not be reached at the opening tells its time later. */
    @Test
    void a_setting_is_compared_when_a_late_store_is_open() {
        boolean[] open = {false};
        Patience patience = new Patience(Duration.ofSeconds(5), () -> Duration.ofSeconds(open[0] ? 9 : 0));
        patience.check(store);
        assertThat(log.said(Level.WARNING, "")).isEmpty();
        open[0] = true;
        patience.check(store);
        patience.check(store);
        assertThat(log.said(Level.WARNING, "store timeout")).hasSize(1);
    }
}
