package io.holdfast.engine;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Inside;
import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.LockClient;
import io.holdfast.LockStoreException;
import io.holdfast.engine.ProbeStore.Fate;
import io.holdfast.spi.AcquireReply;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.ClockReading;
import io.holdfast.spi.HolderId;
import io.holdfast.spi.StoreException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Rules 2, 3, 4 and 5 for one hold: answers that come late, cross each other or never come. */
class HoldTest extends EngineFixture {

    private static final long VALID_MILLIS = 2_968;

    final LockClient other = client("other");

    @Test
    void an_answer_about_an_old_hold_does_not_touch_the_new_one() {
        Lease first = now(acquire(client, "a"));
        CompletableFuture<Lease> next = acquire(client, "a", DEFAULTS.leaseFor(ofSeconds(10)));
        store.renews = Fate.REPLY_HELD;
        first.releaseAsync();
        advance(VALID_MILLIS);
        ActiveLease granted = now(next);
        assertThat(store.count("acquire")).isEqualTo(2);
        store.deliverReplies();

        assertThat(granted.isValid()).isTrue();
        assertThat(store.count("abandon")).isEqualTo(1);
    }

    @Test
    void a_renewal_of_an_old_hold_does_not_lengthen_or_end_the_new_one() {
        ActiveLease first = now(acquire(client, "a"));
        CompletableFuture<Lease> next = acquire(client, "a");
        store.renews = Fate.REPLY_HELD;
        advance(VALID_MILLIS);
        assertThat(now(next).hold).isNotSameAs(first.hold);
        store.renews = Fate.PASS;
        store.deliverReplies();

        assertThat(now(next).isValid()).isTrue();
        assertThat(Inside.engine(client).renewals.size()).isEqualTo(1);
    }

    @Test
    void a_release_that_reaches_the_engine_after_the_loss_does_not_end_the_next_lease() {
        ActiveLease first = now(acquire(client, "a"));
        CompletableFuture<Lease> next = acquire(client, "a");
        store.renews = Fate.FAIL;
        advance(VALID_MILLIS);
        store.renews = Fate.PASS;
        now(next);
        // The owner's thread was overtaken between the lease and the engine.
        first.hold.engine.onReleased(first);

        assertThat(now(next).isValid()).isTrue();
        assertThat(store.count("release")).isZero();
        assertThat(acquire(other, "a")).isNotDone();
    }

    @Test
    void a_release_that_meets_the_loss_of_its_hold_says_lost() {
        List<CompletionStage<Void>> released = new ArrayList<>();
        List<Lease> leases = new ArrayList<>();
        ProbeStore probe = probe("meets");
        LockClient meets = client(
                "meets",
                probe,
                settings -> settings.rules = new LeaseRules() {
                    @Override
                    boolean renewalCounts(Deadline old, ClockReading now) {
                        // The owner releases in this very moment.
                        leases.forEach(lease -> released.add(lease.releaseAsync()));
                        return leases.isEmpty();
                    }
                });
        leases.add(now(acquire(meets, "a")));
        advance(1_000);

        assertThatThrownBy(() -> released.get(0).toCompletableFuture().join())
                .hasCauseInstanceOf(LeaseLostException.class);
    }

    @Test
    void a_setting_that_is_never_answered_is_given_up_when_the_hold_ends() {
        Lease held = now(acquire(other, "a"));
        CompletableFuture<Lease> gone = acquire(client, "a", DEFAULTS.waitAtMost(ofMillis(500)));
        CompletableFuture<Lease> next = acquire(client, "a", DEFAULTS.leaseFor(ofSeconds(1)));
        advance(500);
        assertThat(gone).isCompletedExceptionally();
        store.renews = Fate.REQUEST_HELD;
        held.release();
        advance(1);
        assertThat(store.count("renew")).isEqualTo(1);
        assertThat(next).isNotDone();
        advance(VALID_MILLIS);

        assertThat(now(next).isValid()).isTrue();
    }

    @Test
    void a_set_length_counts_from_the_sending_of_its_command() {
        Lease first = now(acquire(client, "a"));
        CompletableFuture<Lease> next = acquire(client, "a", DEFAULTS.leaseFor(ofSeconds(2)));
        store.renews = Fate.REPLY_HELD;
        first.releaseAsync();
        advance(500);
        store.deliverReplies();

        assertThat(now(next).remaining()).isEqualTo(ofMillis(2_000 - 22 - 500));
    }

    @Test
    void a_hold_from_a_release_and_requeue_counts_from_the_sending_of_that() {
        Lease first = now(acquire(client, "a"));
        CompletableFuture<Lease> next = acquire(client, "a");
        CompletableFuture<Lease> remote = acquire(other, "a");
        advance(20);
        remote.cancel(false);
        store.releases = Fate.REPLY_HELD;
        first.releaseAsync();
        advance(800);
        store.deliverReplies();

        assertThat(store.count("requeue")).isEqualTo(1);
        assertThat(now(next).remaining()).isEqualTo(ofMillis(VALID_MILLIS - 800));
        store.releases = Fate.PASS;
    }

    @Test
    void an_answer_that_comes_after_that_of_a_later_renewal_does_not_shorten() {
        Lease lease = now(acquire(client, "a"));
        store.renews = Fate.REPLY_HELD;
        advance(1_000);
        store.renews = Fate.PASS;
        advance(1_000);
        assertThat(store.count("renew")).isEqualTo(2);
        assertThat(lease.remaining()).isEqualTo(ofMillis(VALID_MILLIS));
        store.deliverReplies();

        assertThat(lease.remaining()).isEqualTo(ofMillis(VALID_MILLIS));
    }

    @Test
    void an_answer_to_an_earlier_renewal_does_not_lengthen_a_lease_beyond_its_own_limit() {
        Lease first = now(acquire(client, "a"));
        store.renews = Fate.REPLY_HELD;
        advance(1_000);
        CompletableFuture<Lease> next = acquire(client, "a", DEFAULTS.holdAtMost(ofMillis(2_100)));
        first.releaseAsync();
        store.renews = Fate.PASS;
        store.deliverReplies();

        assertThat(now(next).remaining()).isLessThanOrEqualTo(ofMillis(2_100));
        advance(2_099);
        store.renews = Fate.FAIL;
        advance(1);
        assertThat(now(next).hasEnded()).isTrue();
        assertThat(server.size()).isZero();
    }

    @Test
    void a_renewal_says_that_others_wait_when_the_message_was_missed() {
        Lease first = now(acquire(client, "a"));
        store.messages = false;
        CompletableFuture<Lease> remote = acquire(other, "a");
        advance(1_100);
        CompletableFuture<Lease> next = acquire(client, "a");
        first.release();
        advance(1);

        assertThat(now(remote).isValid()).isTrue();
        assertThat(next).isNotDone();
        store.messages = true;
    }

    @Test
    void whoever_looks_first_after_a_pause_makes_the_loss_known() {
        Lease lease = now(acquire(client, "a"));
        lease.onLost(() -> events.add("lost"));
        time.stepWall(ofSeconds(4));
        assertThat(events).isEmpty();

        assertThat(lease.isValid()).isFalse();
        assertThat(events).containsExactly("lost");
    }

    @Test
    void a_renewal_confirmed_after_a_pause_does_not_count_although_nobody_has_looked_yet() {
        Lease lease = now(acquire(client, "a"));
        lease.onLost(() -> events.add("lost"));
        store.renews = Fate.REPLY_HELD;
        advance(1_000);
        time.stepWall(ofSeconds(4));
        store.deliverReplies();

        assertThat(events).containsExactly("lost");
    }

    @Test
    void a_wall_clock_that_goes_forward_shortens_what_remains() {
        Lease lease = now(acquire(client, "a"));
        time.stepWall(ofSeconds(1));

        assertThat(lease.remaining()).isEqualTo(ofSeconds(2));
    }

    @Test
    void a_release_after_the_deadline_says_lost() {
        Lease lease = now(acquire(client, "a"));
        time.stepWall(ofSeconds(4));

        assertThatThrownBy(lease::release).isInstanceOf(LeaseLostException.class);
    }

    @Test
    void a_short_lease_that_begins_between_the_renewals_of_others_ends_in_time() {
        now(acquire(client, "long"));
        Lease brief = now(acquire(client, "brief", DEFAULTS.leaseFor(ofMillis(300))));
        brief.onLost(() -> events.add("lost"));
        advance(300);

        assertThat(events).containsExactly("lost");
    }

    @Test
    void a_hold_whose_release_failed_is_withdrawn() {
        Lease lease = now(acquire(client, "a"));
        store.releases = Fate.FAIL;
        store.failure = new StoreException(StoreException.Outcome.UNKNOWN, "no answer", null);
        lease.release();

        assertThat(store.count("abandon")).isEqualTo(1);
        assertThat(now(acquire(other, "a")).isValid()).isTrue();
    }

    @Test
    void a_withdrawal_that_the_store_never_confirms_ends_when_the_lease_must_be_over() {
        Lease lease = now(acquire(client, "a"));
        store.releases = Fate.FAIL;
        store.abandons = Fate.FAIL;
        lease.release();
        advance(7_000);
        long before = store.count("abandon");
        // The lease of 3 s may begin as late as the command's timeout of 5 s; and the last try may be 2 s after that.
        advance(3_000);
        long after = store.count("abandon");
        advance(60_000);

        assertThat(after).isGreaterThan(before);
        assertThat(store.count("abandon")).isEqualTo(after);
        assertThat(Inside.engine(client).compensation.pending()).isZero();
    }

    /** The last renewal, clipped to the lease's limit, was short; but one before may come after it. */
    @Test
    void a_withdrawal_near_the_limit_of_a_lease_goes_on_for_as_long_as_any_earlier_command_may_keep_the_hold() {
        ProbeStore behind = probe("longer");
        LockClient longer = client("longer", behind, settings -> settings.leaseNanos = 30_000_000_000L);
        Lease lease = now(acquire(longer, "a", DEFAULTS.holdAtMost(ofSeconds(31))));
        behind.renews = Fate.FAIL;
        advance(29_000);
        assertThat(lease.isValid()).isTrue();
        assertThat(behind.renewals.get(behind.renewals.size() - 1).leaseMillis())
                .isLessThan(5_000);
        assertThatWithdrawalLasts(behind, lease, 30_000);
    }

    /**
     * The grant was pushed for 3 s. A failed acquire may still be executed after it, and gives the holder its full
     * length.
     */
    @Test
    void a_withdrawal_of_a_pushed_grant_goes_on_for_as_long_as_an_earlier_asking_may_keep_the_hold() {
        ProbeStore behind = probe("longer");
        LockClient longer = client("longer", behind, settings -> settings.leaseNanos = 30_000_000_000L);
        behind.details = true;
        behind.failure = new StoreException(StoreException.Outcome.UNKNOWN, "cut off", null);
        Lease held = now(acquire(other, "a"));
        CompletableFuture<Lease> waiting = acquire(longer, "a");
        behind.acquires = Fate.FAIL;
        advance(900);
        behind.acquires = Fate.PASS;
        advance(1_000);
        behind.commands.clear();
        held.release();
        advance(0);
        assertThat(behind.commands).isEmpty();
        assertThatWithdrawalLasts(behind, now(waiting), 30_000);
    }

    /** The one command that asks for a longer hold fails: then the hold has the length of its last renewal. */
    @Test
    void a_withdrawal_of_a_hold_that_was_kept_after_its_release_goes_on_for_as_long_as_the_store_may_keep_it() {
        Lease lease = now(acquire(client, "a", DEFAULTS.leaseFor(ofSeconds(60))));
        store.renews = Fate.FAIL;
        store.abandons = Fate.FAIL;
        assertThatThrownBy(() -> lease.releaseHoldingAtLeast(ofSeconds(1))).isInstanceOf(LockStoreException.class);
        advance(1_000);
        long before = 0;
        for (long at = 1_000; at < 61_000; at += 3_000) {
            assertThat(store.count("abandon")).as("after " + at + " ms").isGreaterThan(before);
            before = store.count("abandon");
            advance(3_000);
        }
    }

    private void assertThatWithdrawalLasts(ProbeStore store, Lease lease, long millis) {
        store.releases = Fate.FAIL;
        store.abandons = Fate.FAIL;
        lease.release();
        long before = 0;
        // A command may be executed as late as 5 s after its sending; tries are up to 2 s apart.
        for (long at = 0; at < millis + 5_000 - 2_000; at += 2_000) {
            assertThat(store.count("abandon")).as("after " + at + " ms").isGreaterThan(before);
            before = store.count("abandon");
            advance(2_000);
        }
    }

    @Test
    void a_withdrawal_that_can_never_succeed_is_not_tried_again() {
        Lease lease = now(acquire(client, "a"));
        store.releases = Fate.FAIL;
        store.abandons = Fate.FAIL;
        store.failure = new StoreException(StoreException.Outcome.FATAL, "wrong type", null);
        lease.release();
        advance(10_000);

        assertThat(store.count("abandon")).isEqualTo(1);
    }

    @Test
    void a_grant_for_an_older_attempt_at_a_name_in_use_is_given_back() {
        now(acquire(client, "a"));
        long older = Inside.engine(client).numbers.next();
        java.util.Objects.requireNonNull(store.listener)
                .granted("a", HolderId.of(Inside.engine(client).settings.clientId, older));

        assertThat(store.commands).containsExactly("acquire", "abandon");
    }

    @Test
    void closing_is_complete_when_the_store_has_confirmed_the_releases() {
        now(acquire(client, "a"));
        store.releases = Fate.REPLY_HELD;
        CompletableFuture<Void> closed = Inside.engine(client).closeAsync().toCompletableFuture();
        assertThat(closed).isNotDone();
        store.deliverReplies();

        assertThat(closed).isCompleted();
    }

    @Test
    void leases_and_losses_are_told_on_the_users_executor() {
        List<Runnable> deferred = new ArrayList<>();
        LockClient told = client("two", probe("two"), settings -> settings.callbackExecutor = deferred::add);
        CompletableFuture<Lease> stage = acquire(told, "a");
        assertThat(stage).isNotDone();
        run(deferred);
        now(stage).onLost(() -> events.add("lost"));
        client.forceRelease("a");
        advance(1_000);
        assertThat(events).isEmpty();
        run(deferred);

        assertThat(events).containsExactly("lost");
    }

    @Test
    void a_stage_that_was_cancelled_before_its_lease_was_delivered_gives_it_back() {
        List<Runnable> deferred = new ArrayList<>();
        LockClient told = client("two", probe("two"), settings -> settings.callbackExecutor = deferred::add);
        CompletableFuture<Lease> stage = acquire(told, "a");
        stage.cancel(false);
        assertThat(server.size()).isEqualTo(1);
        run(deferred);

        assertThat(server.size()).isZero();
    }

    @Test
    void a_loss_is_told_although_the_users_executor_refuses() throws InterruptedException {
        LockClient told = client(
                "two",
                probe("two"),
                settings -> settings.callbackExecutor = task -> {
                    throw new RejectedExecutionException("full");
                });
        BlockingQueue<String> heard = new LinkedBlockingQueue<>();
        CompletableFuture<Lease> stage = acquire(told, "a");
        stage.join().onLost(() -> heard.add("lost"));
        client.forceRelease("a");
        advance(1_000);

        assertThat(heard.poll(10, TimeUnit.SECONDS)).isEqualTo("lost");
    }

    @Test
    void nothing_is_remembered_of_a_hold_after_its_release_however_long_it_might_have_lasted() {
        now(acquire(client, "a", DEFAULTS.leaseFor(ofMinutes(1)))).release();

        assertThat(Inside.engine(client).renewals.size()).isZero();
    }

    @Test
    void an_event_that_fails_does_not_keep_what_was_decided_before_it_from_those_who_wait_for_it() {
        boolean[] broken = new boolean[1];
        ProbeStore probe = new ProbeStore(new ForwardingStore(probe("two")) {
            @Override
            public CompletionStage<AcquireReply> acquire(AcquireRequest request) {
                if (broken[0]) {
                    throw new IllegalStateException("a defect");
                }
                return super.acquire(request);
            }
        });
        LockClient breaking = client("two", probe, settings -> {});
        Lease lease = now(acquire(breaking, "a"));
        lease.onLost(() -> events.add("lost"));
        CompletableFuture<Lease> waiting = acquire(breaking, "a");
        broken[0] = true;
        probe.renews = Fate.FAIL;
        advance(VALID_MILLIS);

        assertThat(events).containsExactly("lost");
        assertThat(waiting).isNotDone();
    }

    private static void run(List<Runnable> deferred) {
        List<Runnable> now = new ArrayList<>(deferred);
        deferred.clear();
        now.forEach(Runnable::run);
    }
}
