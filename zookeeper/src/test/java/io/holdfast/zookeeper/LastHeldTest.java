package io.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.memory.VirtualTime;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** From a client's last node to the conclusion that its next one is alone. */
class LastHeldTest {

    private static final Folder FOLDER = Folder.of("/locks", "a");

    private final VirtualTime time = new VirtualTime();
    private final LastHeld lastHeld = new LastHeld(time);

    @Test
    void the_next_number_says_that_nobody_came_in_between() {
        LastHeld.Node last = new LastHeld.Node(41, 1_000, true);
        assertThat(last.isFollowedBy(42, 1_002)).isTrue();
        assertThat(last.isFollowedBy(43, 1_003)).isFalse();
        assertThat(last.isFollowedBy(0, 1_003)).isFalse();
    }

    /** In a new folder, 42 nodes were made before the one with number 42, each by a transaction. */
    @Test
    void after_so_many_transactions_the_folder_may_be_a_new_one() {
        LastHeld.Node last = new LastHeld.Node(41, 1_000, true);
        assertThat(last.isFollowedBy(42, 1_041)).isTrue();
        assertThat(last.isFollowedBy(42, 1_042)).isFalse();
        assertThat(last.isFollowedBy(42, (1L << 32) + 1)).isFalse();
        assertThat(new LastHeld.Node(0, 1_000, false).isFollowedBy(1, 1_002)).isFalse();
    }

    @Test
    void a_node_is_used_once_and_soon() {
        LastHeld.Node last = new LastHeld.Node(41, 1_000, true);
        lastHeld.left(FOLDER, last);
        assertThat(lastHeld.take(Folder.of("/locks", "b"))).isNull();
        assertThat(lastHeld.take(FOLDER)).isEqualTo(last);
        assertThat(lastHeld.take(FOLDER)).isNull();
        lastHeld.left(FOLDER, last);
        time.advance(Duration.ofSeconds(2));
        assertThat(lastHeld.take(FOLDER)).isNull();
    }

    @Test
    void only_the_last_names_are_kept() {
        for (int i = 0; i < 1_000; i++) {
            lastHeld.left(Folder.of("/locks", "n" + i), new LastHeld.Node(i, i, false));
        }
        assertThat(lastHeld.take(Folder.of("/locks", "n0"))).isNull();
        assertThat(lastHeld.take(Folder.of("/locks", "n999"))).isNotNull();
    }

    @Test
    void nothing_is_concluded_near_the_last_number() {
        lastHeld.left(FOLDER, new LastHeld.Node(QueueSnapshot.LIMIT - 1, 1_000, true));
        assertThat(lastHeld.take(FOLDER)).isNull();
    }
}
