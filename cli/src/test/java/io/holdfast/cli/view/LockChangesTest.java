package io.holdfast.cli.view;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockState;
import io.holdfast.cli.view.LockChanges.Change;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

class LockChangesTest {

    private final LockChanges changes = new LockChanges();
    private long nanos;

    @Test
    void acquiredAndReleased() {
        assertThat(next(state(null, 0, 0, 0))).containsExactly("free");
        assertThat(next(state(null, 0, 0, 0))).isEmpty();
        assertThat(next(state("hf-a:1", 30_000, 7, 0))).containsExactly("acquired");
        assertThat(next(state("hf-a:1", 29_500, 7, 2))).containsExactly("waiting");
        assertThat(next(state("hf-b:1", 3_000, 8, 1))).containsExactly("released", "acquired", "waiting");
        assertThat(next(state("hf-b:1", 30_000, 9, 1))).containsExactly("token");
        assertThat(next(state(null, 0, 0, 1))).containsExactly("released");
    }

    @Test
    void aHoldThatRanOutIsLost() {
        assertThat(next(state("hf-a:1", 700, 7, 0))).containsExactly("held");
        assertThat(next(state("hf-a:1", 200, 7, 0))).isEmpty();
        assertThat(next(state(null, 0, 0, 0))).containsExactly("lost");
    }

    private List<String> next(LockState state) {
        nanos += 500_000_000L;
        return changes.next(state, nanos).stream().map(Change::event).toList();
    }

    private static LockState state(String holder, long left, long token, int waiting) {
        return new LockState(
                "n",
                Optional.ofNullable(holder),
                Optional.of(Duration.ofMillis(left)),
                token == 0 ? OptionalLong.empty() : OptionalLong.of(token),
                waiting,
                Optional.empty());
    }
}
