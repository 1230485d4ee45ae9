package io.holdfast.engine;

import static java.time.Duration.ofNanos;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Inside;
import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/**
 * Rules 1, 6 and 7 for a lock that was left open for running threads, step by step. The head of the queue is this
 * thread, which never parks: what it would do when it wakes, the test does.
 */
class BargingTest extends EngineFixture {

    private final LockClient other = client("other");
    private final ActiveLease first = now(acquire(client, "a"));
    private final NameEngine engine = Inside.engine(client).engine("a");

    @Test
    void whoever_comes_first_takes_an_open_lock_and_the_one_that_was_woken_gets_it_next() {
        Waiter head = head(DEFAULTS);
        first.release();
        assertThat(head.state).isEqualTo(Waiter.State.PENDING);
        ActiveLease barged = now(acquire(client, "a"));
        engine.onClaim(head);
        assertThat(head.state).isEqualTo(Waiter.State.PENDING);
        advance(2);
        barged.release();

        assertThat(head.state).isEqualTo(Waiter.State.GRANTED);
        assertThat(store.commands).containsExactly("acquire");
    }

    @Test
    void the_one_that_was_woken_takes_an_open_lock_when_nobody_was_quicker() {
        Waiter head = head(DEFAULTS);
        first.release();
        engine.onClaim(head);

        assertThat(head.state).isEqualTo(Waiter.State.GRANTED);
        assertThat(acquire(client, "a")).isNotDone();
    }

    @Test
    void an_open_lock_goes_to_the_next_when_the_one_that_was_woken_leaves() {
        Waiter head = head(DEFAULTS);
        CompletableFuture<Lease> next = acquire(client, "a");
        first.release();
        assertThat(next).isNotDone();
        engine.onLeave(head, Waiter.State.WITHDRAWN, null);

        assertThat(now(next).isValid()).isTrue();
    }

    @Test
    void an_open_lock_goes_back_to_the_store_when_the_only_one_that_was_woken_leaves() {
        Waiter head = head(DEFAULTS);
        first.release();
        engine.onLeave(head, Waiter.State.WITHDRAWN, null);

        assertThat(server.size()).isZero();
    }

    @Test
    void nothing_is_left_open_once_the_first_has_waited_for_a_millisecond() {
        Waiter head = head(DEFAULTS);
        advance(1);
        first.release();

        assertThat(head.state).isEqualTo(Waiter.State.GRANTED);
    }

    /** Otherwise, with thousands of waiters, each acquisition would cost a wake-up. */
    @Test
    void in_the_short_turn_of_one_who_had_waited_long_running_threads_take_it_again() {
        Waiter head = head(DEFAULTS);
        Waiter next = head(DEFAULTS);
        advance(1);
        first.release();
        head.leaseOrThrow().release();
        assertThat(next.state).isEqualTo(Waiter.State.PENDING);
        ActiveLease barged = now(acquire(client, "a"));
        time.advance(ofNanos(100_000));
        barged.release();

        assertThat(next.state).isEqualTo(Waiter.State.GRANTED);
    }

    @Test
    void nothing_is_left_open_before_a_fair_waiter() {
        Waiter head = head(DEFAULTS.fair());
        first.release();

        assertThat(head.state).isEqualTo(Waiter.State.GRANTED);
    }

    @Test
    void a_fair_waiter_does_not_barge() {
        Waiter head = head(DEFAULTS);
        first.release();
        CompletableFuture<Lease> fair = acquire(client, "a", DEFAULTS.fair());
        assertThat(fair).isNotDone();
        engine.onClaim(head);

        assertThat(head.state).isEqualTo(Waiter.State.GRANTED);
    }

    @Test
    void nobody_barges_with_a_length_that_the_store_has_not_set() {
        head(DEFAULTS);
        first.release();

        assertThat(acquire(client, "a", DEFAULTS.leaseFor(ofSeconds(1)))).isNotDone();
    }

    @Test
    void nobody_claims_an_open_lock_whose_tenure_has_ended_meanwhile() {
        Waiter head = head(DEFAULTS);
        first.release();
        CompletableFuture<Lease> remote = acquire(other, "a");
        advance(20);
        engine.onClaim(head);
        assertThat(head.state).isEqualTo(Waiter.State.PENDING);
        advance(1);

        assertThat(now(remote).isValid()).isTrue();
        now(remote).release();
        advance(1);
        assertThat(head.state).isEqualTo(Waiter.State.GRANTED);
    }

    @Test
    void an_open_lock_that_nobody_claims_in_time_is_acquired_anew() {
        Waiter head = head(DEFAULTS);
        first.release();
        advance(3_000);

        assertThat(head.state).isEqualTo(Waiter.State.GRANTED);
        assertThat(store.commands).containsExactly("acquire", "abandon", "acquire");
    }

    @Test
    void a_waiter_that_was_granted_cannot_leave_any_more() {
        Waiter head = head(DEFAULTS.fair());
        first.release();

        assertThat(engine.onLeave(head, Waiter.State.WITHDRAWN, null)).isFalse();
        assertThat(head.state).isEqualTo(Waiter.State.GRANTED);
    }

    private Waiter head(LockOptions options) {
        return Inside.engine(client).submit("a", options, Waiter.Mode.PATIENT);
    }
}
