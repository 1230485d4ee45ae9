package io.holdfast.engine;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.engine.ProbeStore.Fate;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.PushedGrant;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Leases that are handed out on the store's message alone, and when they must not be. The lease is 3 s. */
class PushedGrantTest extends EngineFixture {

    private final LockClient other = client("two");
    private final ProbeStore probe = probe("patient");

    /** Polls so seldom that no poll disturbs. */
    private final LockClient patient = client(
            "patient",
            probe,
            settings -> settings.pollNanos = Duration.ofSeconds(20).toNanos());

    private CompletableFuture<Lease> held = new CompletableFuture<>();
    private CompletableFuture<Lease> waiting = new CompletableFuture<>();

    @BeforeEach
    void one_waits_for_another() {
        probe.details = true;
        held = acquire(other, "a");
        waiting = acquire(patient, "a");
        advance(100);
        assertThat(waiting).isNotDone();
    }

    @Test
    void is_handed_out_without_another_command() {
        probe.commands.clear();
        now(held).release();
        advance(0);

        assertThat(now(waiting).isValid()).isTrue();
        assertThat(now(waiting).fencingToken()).isGreaterThan(now(held).fencingToken());
        assertThat(probe.commands).isEmpty();
    }

    @Test
    void is_renewed_like_any_other_hold() {
        now(held).release();
        advance(10_000);
        assertThat(now(waiting).isValid()).isTrue();
        assertThat(probe.renewals).isNotEmpty();
    }

    @Test
    void lasts_from_the_grant_on_not_from_the_arrival_of_the_message() {
        PushedGrant late = grantWithoutMessage();
        advance(800);
        tell(late);

        assertThat(now(waiting).isValid()).isTrue();
        // 3 s less 800 ms, and less the drift margin of 1 % of 3.1 s and 2 ms.
        assertThat(now(waiting).remaining().toMillis()).isBetween(2_160L, 2_170L);
    }

    @Test
    void asks_when_the_message_was_on_its_way_for_half_of_the_lease() {
        PushedGrant late = grantWithoutMessage();
        probe.acquires = Fate.REQUEST_HELD;
        advance(1_600);
        probe.commands.clear();
        tell(late);

        assertThat(waiting).isNotDone();
        probe.acquires = Fate.PASS;
        probe.deliverRequests();
        assertThat(now(waiting).isValid()).isTrue();
    }

    /** Whoever may publish on the client's channel knows all else of a grant. */
    @Test
    void asks_when_it_does_not_repeat_the_nonce_of_the_last_asking() {
        for (long nonce : new long[] {PushedGrant.NO_NONCE, 0, 1, 999_999_999_999_999L, Long.MAX_VALUE}) {
            probe.commands.clear();
            tell(forged(nonce));
            assertThat(probe.commands).containsExactly("acquire");
            assertThat(waiting).as("two holders").isNotDone();
        }
        long old = probe.requests.get(0).nonce();
        tell(forged(old));
        assertThat(waiting).as("two holders").isNotDone();
        assertThat(now(held).isValid()).isTrue();
    }

    @Test
    void has_62_fresh_random_bits_in_each_asking_that_queues() {
        for (int i = 0; i < 200; i++) {
            requireNonNull(probe.listener).reconnected();
        }
        List<Long> nonces =
                probe.requests.stream().map(AcquireRequest::nonce).distinct().toList();
        assertThat(nonces).hasSize(201).allMatch(nonce -> nonce >= 0 && nonce >>> 62 == 0);
        assertThat(nonces.stream().reduce(0L, (a, b) -> a | b))
                .as("bits that are used")
                .isEqualTo((1L << 62) - 1);
        assertThat(nonces.stream().reduce(-1L, (a, b) -> a & b))
                .as("bits that are always set")
                .isZero();
    }

    @Test
    void has_fresh_random_bits_when_it_releases_and_queues_again() {
        now(held).release();
        advance(0);
        Lease mine = now(waiting);
        CompletableFuture<Lease> remote = acquire(other, "a");
        CompletableFuture<Lease> local = acquire(patient, "a");
        advance(20);
        probe.requests.clear();
        mine.release();
        assertThat(probe.commands).contains("requeue");
        assertThat(remote.isDone() && local.isDone()).isFalse();
        assertThat(probe.requests)
                .singleElement()
                .extracting(AcquireRequest::nonce)
                .isNotEqualTo(0L);
    }

    /** An asking without the queue cannot be granted by a message. */
    @Test
    void is_not_believed_for_an_asking_without_a_place_in_the_queue() {
        probe.acquires = Fate.REQUEST_HELD;
        CompletableFuture<Lease> once = acquire(patient, "b", DEFAULTS.waitAtMost(Duration.ZERO));
        String id = probe.lastHolderId();
        tell(new PushedGrant("b", id, 1, 0, 3_000, PushedGrant.NO_NONCE, 0, PushedGrant.ALWAYS));
        tell(new PushedGrant("b", id, 1, 0, 3_000, 0, 0, PushedGrant.ALWAYS));
        assertThat(once).isNotDone();
        probe.acquires = Fate.PASS;
        probe.deliverRequests();
        assertThat(now(once).isValid()).isTrue();
    }

    @Test
    void withdraws_no_hold_of_another_client() {
        Lease elsewhere = now(acquire(other, "b"));
        tell(new PushedGrant("b", "two:1", 1, 0, 3_000, 0, 0, PushedGrant.ALWAYS));
        tell(new PushedGrant("b", "two:2", 1, 0, 3_000, 0, 0, PushedGrant.ALWAYS));
        requireNonNull(probe.listener).granted("b", "two:2");
        advance(0);
        assertThat(probe.count("abandon")).isZero();
        assertThat(acquire(patient, "b")).isNotDone();
        assertThat(elsewhere.isValid()).isTrue();
    }

    private PushedGrant forged(long nonce) {
        return new PushedGrant("a", probe.lastHolderId(), 1L << 40, 0, 3_000, nonce, 0, PushedGrant.ALWAYS);
    }

    private static PushedGrant changed(
            PushedGrant grant, long nonce, long sinceAskingMillis, long sameClockSinceNanos) {
        return new PushedGrant(
                grant.name(),
                grant.holderId(),
                grant.base(),
                grant.waiting(),
                grant.leaseMillis(),
                nonce,
                sinceAskingMillis,
                sameClockSinceNanos);
    }

    @Test
    void asks_when_the_store_counted_from_another_asking_than_the_last() {
        PushedGrant grant = grantWithoutMessage();
        probe.acquires = Fate.REQUEST_HELD;
        tell(changed(grant, grant.nonce() + 1, grant.sinceAskingMillis(), PushedGrant.ALWAYS));
        assertThat(waiting).isNotDone();

        probe.acquires = Fate.PASS;
        probe.deliverRequests();
        assertThat(now(waiting).isValid()).isTrue();
    }

    @Test
    void asks_when_the_connection_was_made_after_the_asking() {
        PushedGrant grant = grantWithoutMessage();
        probe.acquires = Fate.REQUEST_HELD;
        tell(changed(grant, grant.nonce(), grant.sinceAskingMillis(), time.nanoTime()));
        assertThat(waiting).isNotDone();

        probe.acquires = Fate.PASS;
        probe.deliverRequests();
        assertThat(now(waiting).isValid()).isTrue();
    }

    @Test
    void a_jump_of_the_stores_clock_does_not_make_it_longer_than_from_the_messages_arrival() {
        PushedGrant grant = grantWithoutMessage();
        tell(changed(grant, grant.nonce(), grant.sinceAskingMillis() + 3_600_000, PushedGrant.ALWAYS));
        assertThat(now(waiting).remaining().toMillis()).isLessThan(3_000);
    }

    @Test
    void an_answer_that_the_message_overtook_does_not_withdraw_the_hold() {
        // A reconnect makes it ask, and the answer is on its way when the lock is passed on.
        probe.acquires = Fate.REPLY_HELD;
        requireNonNull(probe.listener).reconnected();
        now(held).release();
        advance(0);
        assertThat(now(waiting).isValid()).isTrue();

        probe.deliverReplies();
        advance(0);
        assertThat(probe.count("abandon")).isZero();
        assertThat(acquire(other, "a")).isNotDone();
        assertThat(now(waiting).isValid()).isTrue();
    }

    @Test
    void a_failure_that_the_message_overtook_does_not_withdraw_the_hold() {
        probe.acquires = Fate.REQUEST_HELD;
        requireNonNull(probe.listener).reconnected();
        PushedGrant grant = grantWithoutMessage();
        // The asking under way is the second; the store has stamped the first.
        tell(grant);
        assertThat(waiting).isNotDone();
        probe.deliverRequests();
        assertThat(now(waiting).isValid()).isTrue();
        assertThat(probe.count("abandon")).isZero();
    }

    @Test
    void a_message_that_comes_late_does_not_overtake_the_release() {
        PushedGrant late = grantWithoutMessage();
        requireNonNull(probe.listener).reconnected();
        Lease granted = now(waiting);
        probe.releases = Fate.REQUEST_HELD;
        CompletableFuture<Void> released = granted.releaseAsync().toCompletableFuture();
        tell(late);
        advance(0);
        probe.deliverRequests();

        assertThat(released).isCompletedWithValue(null);
        // Ordered after the release: the grant may be of an asking that was executed after it.
        assertThat(probe.commands).containsSubsequence("release", "abandon");
    }

    @Test
    void a_message_that_comes_late_does_not_overtake_the_release_that_queues_again() {
        PushedGrant late = grantWithoutMessage();
        requireNonNull(probe.listener).reconnected();
        Lease granted = now(waiting);
        CompletableFuture<Lease> remote = acquire(other, "a");
        CompletableFuture<Lease> local = acquire(patient, "a");
        advance(20);
        probe.releases = Fate.REQUEST_HELD;
        granted.release();
        tell(late);
        advance(0);
        assertThat(probe.commands).contains("requeue").doesNotContain("abandon");
        probe.commands.clear();
        probe.deliverRequests();
        advance(0);

        assertThat(now(remote).isValid()).isTrue();
        assertThat(probe.commands).as("the next asking").doesNotContain("acquire");
        assertThat(local).isNotDone();
    }

    @Test
    void a_release_of_unknown_outcome_is_repeated_once_whatever_came_late() {
        PushedGrant late = grantWithoutMessage();
        requireNonNull(probe.listener).reconnected();
        Lease granted = now(waiting);
        probe.releases = Fate.REQUEST_FAILS;
        CompletableFuture<Void> released = granted.releaseAsync().toCompletableFuture();
        tell(late);
        advance(0);
        assertThat(probe.count("abandon")).isZero();
        probe.deliverRequests();
        advance(0);

        assertThat(released).isCompletedWithValue(null);
        assertThat(probe.count("abandon")).isEqualTo(1);
        assertThat(now(acquire(other, "a")).isValid()).isTrue();
    }

    @Test
    void one_that_nobody_waits_for_is_given_back() {
        waiting.cancel(false);
        PushedGrant grant = new PushedGrant("a", "patient:1", 1, 0, 3_000, 0, 100, PushedGrant.ALWAYS);
        tell(grant);
        advance(0);
        assertThat(probe.count("abandon")).isPositive();
    }

    private PushedGrant grantWithoutMessage() {
        probe.messages = false;
        now(held).release();
        advance(0);
        probe.messages = true;
        return requireNonNull(probe.pushed);
    }

    private void tell(PushedGrant grant) {
        requireNonNull(probe.listener).granted(grant);
    }
}
