package io.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.memory.VirtualTime;
import io.holdfast.spi.ClockReading;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** The time from which the leader certainly counts a session's time; the session is 12 s. */
class SessionClockTest {

    private static final long TIMEOUT = 12_000;

    private final VirtualTime time = new VirtualTime();
    private final SessionClock clock = new SessionClock(time);

    @Test
    void a_client_that_was_only_heard_by_pings_gets_a_quarter() {
        assertThat(clock.promiseMillis(TIMEOUT, true)).isEqualTo(3_000);
        answeredNow();
        elapse(2_999);
        // The server may not have reported to the leader yet.
        assertThat(clock.promiseMillis(TIMEOUT, true)).isEqualTo(3_000);
    }

    @Test
    void a_client_that_was_paused_and_only_heard_by_pings_gets_nothing() {
        assertThat(clock.promiseMillis(TIMEOUT, false)).isZero();
        answeredNow();
        elapse(2_999);
        assertThat(clock.promiseMillis(TIMEOUT, false)).isZero();
        elapse(1);
        assertThat(clock.promiseMillis(TIMEOUT, false)).isEqualTo(8_000);
        elapse(10_000);
        assertThat(clock.promiseMillis(TIMEOUT, false)).isZero();
    }

    @Test
    void it_counts_from_a_contact_that_the_leader_must_know_of() {
        answeredNow();
        elapse(3_000);
        assertThat(clock.promiseMillis(TIMEOUT, true)).isEqualTo(8_000);
        elapse(2_000);
        assertThat(clock.promiseMillis(TIMEOUT, true)).isEqualTo(6_949);
        answeredNow();
        elapse(1_000);
        // The leader may not know of the later contact.
        assertThat(clock.promiseMillis(TIMEOUT, true)).isEqualTo(5_939);
        elapse(2_000);
        assertThat(clock.promiseMillis(TIMEOUT, true)).isEqualTo(8_000);
    }

    @Test
    void a_stall_before_the_write_shortens_what_is_promised() {
        answeredNow();
        elapse(7_000);
        assertThat(clock.promiseMillis(TIMEOUT, true)).isEqualTo(4_929);
        elapse(4_000);
        assertThat(clock.promiseMillis(TIMEOUT, true)).isEqualTo(3_000);
    }

    @Test
    void a_client_that_is_busy_all_the_time_gets_the_whole() {
        for (int i = 0; i < 100_000; i++) {
            answeredNow();
            time.advance(Duration.ofMillis(1));
        }
        assertThat(clock.promiseMillis(TIMEOUT, true)).isEqualTo(8_000);
    }

    /** The monotonic clock has stopped in the meantime, and the leader's has not. */
    @Test
    void what_the_machine_was_suspended_for_is_taken_off() {
        answeredNow();
        clock.written(ClockReading.now(time));
        time.stepWall(Duration.ofSeconds(5));
        elapse(2_999);
        // By the wall clock the contact is old enough for the leader to know of it; but that clock may have been set.
        assertThat(clock.promiseMillis(TIMEOUT, false)).isZero();
        assertThat(clock.hasWrittenWithin(5_000_000_000L)).isFalse();
        elapse(1);
        assertThat(clock.promiseMillis(TIMEOUT, false)).isEqualTo(12_000 - 8_080 - 1);
    }

    @Test
    void a_wall_clock_that_is_set_costs_shorter_promises_until_there_are_new_contacts() {
        answeredNow();
        time.stepWall(Duration.ofHours(1));
        elapse(3_000);
        assertThat(clock.promiseMillis(TIMEOUT, true)).isEqualTo(3_000);
        answeredNow();
        elapse(3_000);
        assertThat(clock.promiseMillis(TIMEOUT, true)).isEqualTo(8_000);
        time.stepWall(Duration.ofHours(-2));
        assertThat(clock.promiseMillis(TIMEOUT, true)).isEqualTo(8_000);
        elapse(2_000);
        assertThat(clock.promiseMillis(TIMEOUT, true)).isEqualTo(6_949);
    }

    private void answeredNow() {
        clock.answered(ClockReading.now(time), TIMEOUT);
    }

    private void elapse(long millis) {
        time.advance(Duration.ofMillis(millis));
    }
}
