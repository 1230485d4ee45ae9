package io.holdfast.engine;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Inside;
import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.LocalLock;
import io.holdfast.LockClient;
import io.holdfast.LockStoreException;
import io.holdfast.engine.ProbeStore.Fate;
import io.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

/** A name that stays locked after the release; and what a client shows of its own locks. */
class KeptHoldsTest extends EngineFixture {

    private static final Duration LONG = Duration.ofSeconds(10);

    private final LockClient other = client("two");

    @Test
    void the_name_stays_locked_for_that_time_from_the_grant() {
        Lease lease = now(acquire(client, "a"));
        advance(4_000);
        lease.releaseHoldingAtLeast(LONG);
        assertThat(lease.isValid()).isFalse();
        CompletableFuture<Lease> here = acquire(client, "a");
        CompletableFuture<Lease> there = acquire(other, "a");
        advance(5_900);
        assertThat(here).isNotDone();
        assertThat(there).isNotDone();
        advance(1_200);
        assertThat(here.isDone() || there.isDone()).isTrue();
        (here.isDone() ? here : there).join().release();
        advance(1_200);
        (here.isDone() ? there : here).join().release();
        advance(1_200);
    }

    /** A process may stall within the release, longer than the time for which the name is to stay locked. */
    @Test
    void a_time_that_has_passed_when_the_store_is_asked_is_still_a_length() {
        boolean[] stalled = {false};
        ProbeStore behind = probe("stalling");
        LockClient stalling = client(
                "stalling",
                behind,
                settings -> settings.time = new TimeSource() {
                    @Override
                    public long wallMillis() {
                        return time.wallMillis();
                    }

                    @Override
                    public Timer schedule(long delayNanos, Runnable task) {
                        return time.schedule(delayNanos, task);
                    }

                    @Override
                    public long nanoTime() {
                        boolean stalls = !stalled[0]
                                && StackWalker.getInstance()
                                        .walk(frames -> frames.anyMatch(
                                                frame -> frame.getClassName().contains("KeptHolds")
                                                        && frame.getMethodName().equals("send")));
                        if (stalls) {
                            stalled[0] = true;
                            KeptHoldsTest.this.advance(300);
                        }
                        return time.nanoTime();
                    }
                });
        Lease lease = now(acquire(stalling, "a"));
        CompletableFuture<Lease> next = acquire(other, "a");
        lease.releaseHoldingAtLeast(Duration.ofMillis(40));
        assertThat(stalled[0]).isTrue();
        assertThat(behind.renewals.get(behind.renewals.size() - 1).leaseMillis())
                .isPositive();
        advance(1_000);
        now(next).release();
    }

    @Test
    void it_stays_locked_when_the_client_is_closed() {
        now(acquire(client, "a")).releaseHoldingAtLeast(LONG);
        Inside.engine(client).closeAsync();
        advance(9_900);
        assertThat(other.tryAcquire("a")).isEmpty();
        advance(500);
        now(acquire(other, "a")).release();
    }

    @Test
    void late_news_of_its_grant_does_not_end_it() {
        store.details = true;
        CompletableFuture<Lease> first = acquire(other, "a");
        CompletableFuture<Lease> second = acquire(client, "a");
        advance(10);
        now(first).release();
        advance(0);
        now(second).releaseHoldingAtLeast(LONG);
        // The message of the grant, doubled on its way.
        requireNonNull(store.listener).granted(requireNonNull(store.pushed));
        advance(5_000);
        assertThat(other.tryAcquire("a")).isEmpty();
        advance(6_000);
        now(acquire(other, "a")).release();
    }

    @Test
    void it_is_freed_on_the_dot_by_a_client_that_lives() {
        now(acquire(client, "a")).releaseHoldingAtLeast(LONG);
        CompletableFuture<Lease> there = acquire(other, "a");
        advance(10_001);
        now(there).release();
    }

    /**
     * Otherwise the withdrawal is executed first, and the setting finds nothing: good work was reported as unprotected.
     */
    @Test
    void a_time_that_ends_before_the_answer_is_no_loss() {
        Lease lease = now(acquire(client, "a"));
        store.renews = Fate.REQUEST_HELD;
        CompletionStage<Void> released = lease.releaseHoldingAtLeastAsync(Duration.ofMillis(5));
        advance(10);
        store.deliverRequests();

        assertThat(released).isCompleted();
        now(acquire(other, "a")).release();
    }

    @Test
    void a_release_after_that_time_is_an_ordinary_one() {
        Lease lease = now(acquire(client, "a"));
        advance(10_001);
        lease.releaseHoldingAtLeast(LONG);
        now(acquire(other, "a")).release();
    }

    @Test
    void releasing_again_does_nothing_and_a_lost_lease_says_so() {
        Lease lease = now(acquire(client, "a"));
        lease.releaseHoldingAtLeast(LONG);
        lease.release();
        lease.releaseHoldingAtLeast(LONG);

        Lease lost = now(acquire(client, "b"));
        store.renews = Fate.FAIL;
        advance(3_000);
        assertThatThrownBy(() -> lost.releaseHoldingAtLeast(LONG)).isInstanceOf(LeaseLostException.class);
        store.renews = Fate.PASS;
    }

    @Test
    void a_hold_that_was_gone_shows_at_the_release() {
        Lease lease = now(acquire(client, "a"));
        server.connect(new io.holdfast.spi.StoreContext("admin", time)).forceRelease("a", null);
        assertThatThrownBy(() -> lease.releaseHoldingAtLeast(LONG)).isInstanceOf(LeaseLostException.class);
    }

    @Test
    void a_store_that_does_not_answer_is_asked_again() {
        Lease lease = now(acquire(client, "a"));
        store.renews = Fate.FAIL;
        CompletableFuture<Void> released =
                lease.releaseHoldingAtLeastAsync(LONG).toCompletableFuture();
        assertThatThrownBy(released::join)
                .hasCauseInstanceOf(LockStoreException.class)
                .hasMessageContaining("The store was not asked to keep the lock \"a\"");
        assertThat(lease.isValid()).isFalse();
        lease.release();
        advance(1_000);
        store.renews = Fate.PASS;
        advance(8_000);
        // The last renewal alone would have ended after three seconds.
        assertThat(other.tryAcquire("a")).isEmpty();
        advance(1_100);
        now(acquire(other, "a")).release();
    }

    @Test
    void a_client_that_is_closed_asks_no_more() {
        Lease lease = now(acquire(client, "a"));
        store.renews = Fate.FAIL;
        assertThatThrownBy(() -> lease.releaseHoldingAtLeast(LONG)).isInstanceOf(LockStoreException.class);
        client.close();
        long asked = store.count("renew");
        advance(9_000);
        assertThat(store.count("renew")).isEqualTo(asked);
    }

    @Test
    void a_forced_release_through_the_own_client_is_noticed_at_once() {
        Lease lease = now(acquire(client, "a"));
        lease.onLost(() -> events.add("lost"));
        assertThat(client.forceRelease("a")).isTrue();
        advance(1);
        assertThat(events).containsExactly("lost");
    }

    @Test
    void a_client_shows_what_it_holds_and_waits_for() {
        assertThat(client.localLocks()).isEmpty();
        Lease lease = acquire(client, "b").join();
        advance(500);
        CompletableFuture<Lease> next = acquire(client, "b");
        Lease foreign = now(acquire(other, "a"));
        CompletableFuture<Lease> remote = acquire(client, "a", DEFAULTS.waitAtMost(Duration.ofSeconds(2)));
        advance(300);

        assertThat(client.localLocks())
                .satisfiesExactly(
                        a -> assertThat(a)
                                .isEqualTo(new LocalLock(
                                        "a", java.util.Optional.empty(), Duration.ZERO, 1, Duration.ofMillis(300))),
                        b -> assertThat(b)
                                .isEqualTo(new LocalLock(
                                        "b",
                                        java.util.Optional.of(lease),
                                        Duration.ofMillis(800),
                                        1,
                                        Duration.ofMillis(300))));
        lease.release();
        now(next).release();
        advance(2_000);
        assertThat(remote).isCompletedExceptionally();
        foreign.release();
        assertThat(client.localLocks()).isEmpty();
    }

    @Test
    void a_name_that_was_not_kept_because_the_store_could_not_be_told_in_time_is_told_of() {
        Lease lease = now(acquire(client, "a"));
        store.renews = Fate.FAIL;
        assertThatThrownBy(() -> lease.releaseHoldingAtLeast(LONG))
                .isInstanceOf(LockStoreException.class)
                .hasMessageContaining("store: down");
        advance(3_100);
        store.renews = Fate.PASS;
        try (Warnings warnings = new Warnings()) {
            advance(5_000);
            assertThat(warnings.said()).singleElement().asString().contains("lock \"a\" was not kept");
        }
    }

    @Test
    void a_name_that_may_not_be_kept_to_its_end_is_told_of() {
        try (Warnings warnings = new Warnings()) {
            store.renews = Fate.FAIL;
            now(acquire(client, "a")).releaseHoldingAtLeastAsync(Duration.ofSeconds(4));
            // Its lease is longer than that.
            now(acquire(client, "b")).releaseHoldingAtLeastAsync(Duration.ofSeconds(2));
            advance(5_000);
            assertThat(warnings.said()).singleElement().asString().contains("lock \"a\" may become free before");
        }
        store.renews = Fate.PASS;
    }

    @Test
    void a_lock_that_was_got_after_the_reading_of_the_clock_is_held_for_no_negative_time() {
        HookedTime hooked = new HookedTime(time);
        LockClient showing = client("showing", probe("showing"), settings -> settings.time = hooked);
        Lease first = now(acquire(showing, "a"));
        CompletableFuture<Lease> next = acquire(showing, "a");
        hooked.hookAfter = () -> {
            advance(10);
            first.releaseAsync();
        };
        assertThat(showing.localLocks().get(0).heldFor()).isZero();
        now(next).release();
    }
}
