package io.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.memory.VirtualTime;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Whether a pause is noticed; where timers cannot be late, the wall clock advances alone, as in a suspension. */
class PauseDetectorTest {

    private final VirtualTime time = new VirtualTime();
    private final AtomicLong timeout = new AtomicLong(12_000);

    @Test
    void is_steady_without_a_pause_and_three_quarters_of_a_session_after_one() {
        PauseDetector pauses = new PauseDetector(time, timeout::get);
        elapse(5_000);
        assertThat(pauses.isSteady()).isTrue();
        time.stepWall(Duration.ofSeconds(2));
        assertThat(pauses.isSteady()).isFalse();
        elapse(9_000);
        assertThat(pauses.isSteady()).isFalse();
        elapse(500);
        assertThat(pauses.isSteady()).isTrue();
    }

    /** Ten minutes are requested, and the servers allow twenty seconds. */
    @Test
    void a_pause_is_noticed_though_the_session_was_to_be_longer() {
        timeout.set(600_000);
        PauseDetector pauses = new PauseDetector(time, timeout::get);
        elapse(100);
        timeout.set(20_000);
        assertThat(pauses.isSteady()).isTrue();
        time.stepWall(Duration.ofSeconds(15));
        assertThat(pauses.isSteady()).isFalse();
        elapse(10_000);
        assertThat(pauses.isSteady()).isFalse();
        elapse(25_000);
        assertThat(pauses.isSteady()).isTrue();
    }

    @Test
    void a_pause_is_noticed_just_before_the_session_is_known() {
        timeout.set(0);
        PauseDetector pauses = new PauseDetector(time, timeout::get);
        elapse(120);
        time.stepWall(Duration.ofSeconds(15));
        elapse(120);
        timeout.set(20_000);
        assertThat(pauses.isSteady()).isFalse();
        elapse(16_000);
        assertThat(pauses.isSteady()).isTrue();
    }

    /** The promise of a quarter of the session depends on that. */
    @Test
    void is_steady_from_the_beginning_of_a_session() {
        timeout.set(0);
        PauseDetector pauses = new PauseDetector(time, timeout::get);
        elapse(100);
        timeout.set(4_000);
        for (int i = 0; i < 400; i++) {
            elapse(100);
            assertThat(pauses.isSteady()).isTrue();
        }
    }

    private void elapse(long millis) {
        time.advance(Duration.ofMillis(millis));
    }
}
