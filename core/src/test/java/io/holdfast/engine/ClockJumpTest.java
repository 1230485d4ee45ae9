package io.holdfast.engine;

import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.engine.ProbeStore.Fate;
import org.junit.jupiter.api.Test;

/**
 * After a suspension the wall clock has gone on and the monotonic clock has not: losses are announced within a second.
 */
class ClockJumpTest extends EngineFixture {

    private final ProbeStore behind = probe("slow");
    private final LockClient slow = client(
            "slow", behind, settings -> settings.leaseNanos = ofSeconds(30).toNanos());

    @Test
    void a_renewed_lease_whose_time_passed_is_announced_as_lost_within_a_second() {
        Lease lease = now(acquire(slow, "a"));
        lease.onLost(() -> events.add("lost"));
        advance(100);
        time.stepWall(ofMinutes(1));
        advance(1_000);
        assertThat(events).containsExactly("lost");
    }

    @Test
    void so_is_a_fixed_one() {
        Lease lease = now(acquire(slow, "a", DEFAULTS.leaseFor(ofMinutes(10))));
        lease.onLost(() -> events.add("lost"));
        advance(5_000);
        time.stepWall(ofMinutes(10));
        advance(1_000);
        assertThat(events).containsExactly("lost");
    }

    @Test
    void what_is_left_of_a_fixed_lease_after_the_jump_ends_in_time() {
        Lease lease = now(acquire(slow, "a", DEFAULTS.leaseFor(ofMinutes(10))));
        lease.onLost(() -> events.add("lost"));
        advance(60_000);
        time.stepWall(ofMinutes(5));
        advance(235_000);
        assertThat(events).isEmpty();
        advance(6_000);
        assertThat(events).containsExactly("lost");
    }

    @Test
    void a_lease_that_is_not_over_is_renewed_at_once() {
        Lease lease = now(acquire(slow, "a"));
        advance(100);
        time.stepWall(ofSeconds(25));
        advance(1_000);
        assertThat(behind.count("renew")).isEqualTo(1);
        advance(60_000);
        assertThat(lease.isValid()).isTrue();
    }

    @Test
    void a_jump_while_the_acquire_is_under_way_counts_too() {
        behind.acquires = Fate.REPLY_HELD;
        var waiting = acquire(slow, "a", DEFAULTS.leaseFor(ofMinutes(10)));
        time.stepWall(ofMinutes(9));
        behind.deliverReplies();
        Lease lease = now(waiting);
        lease.onLost(() -> events.add("lost"));
        advance(60_001);
        assertThat(events).containsExactly("lost");
    }

    @Test
    void a_step_back_or_a_small_one_changes_nothing() {
        Lease lease = now(acquire(slow, "a"));
        advance(500);
        time.stepWall(ofMinutes(-5));
        advance(1_000);
        time.stepWall(java.time.Duration.ofMillis(200));
        advance(1_000);
        assertThat(behind.count("renew")).isZero();
        assertThat(lease.isValid()).isTrue();
    }

    @Test
    void no_timer_runs_when_nothing_is_held() {
        now(acquire(slow, "a")).release();
        // The one timer for long waits finds nothing after a minute.
        advance(62_000);
        assertThat(time.pending()).isZero();
    }
}
