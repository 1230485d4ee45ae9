package io.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.spi.AcquireRequest;
import io.holdfast.zookeeper.QueueSnapshot.Awaited;
import io.holdfast.zookeeper.QueueSnapshot.Event;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** The queue of a pool: which nodes hold, and what each of the others watches. */
class PoolQueueTest {

    private static final int ALL = AcquireRequest.CAPACITY_MAX;

    @Test
    void the_nodes_hold_that_fit_with_all_before_them() {
        QueueSnapshot queue = queue(share(2, 5), share(3, 5), share(1, 5), share(1, 100));
        assertThat(queue.holders()).isEqualTo(2);
        assertThat(queue.used()).isEqualTo(5);
        // The last one would fit beside the holders, but is behind one that does not.
        assertThat(queue.waiting()).isEqualTo(2);
        assertThat(queue.hasRoom(1, 100)).isFalse();
        assertThat(queue(share(2, 5)).hasRoom(3, 5)).isTrue();
        assertThat(queue(share(2, 5)).hasRoom(4, 5)).isFalse();
        assertThat(queue(share(ALL, ALL), share(ALL, ALL)).holders()).isEqualTo(1);
    }

    @Test
    void nodes_with_other_names_are_not_ours() {
        List<String> others = List.of(
                "c:1~1~0000000001",
                "c:1~1~0~5~0000000002",
                "c:1~1~6~5~0000000003",
                "c:1~1~1~" + (ALL + 1) + "~0000000004",
                "c:1~1~1~5~x",
                "~1~1~5~0000000005",
                "c:1~1~1~5~6~0000000006");
        QueueSnapshot queue = QueueSnapshot.of(others, true);
        assertThat(queue.isEmpty()).isTrue();
        assertThat(queue.foreign()).isNotNull();
        assertThat(QueueSnapshot.of(List.of("c:1~1~0000000001"), false).holders())
                .isEqualTo(1);
    }

    @Test
    void as_a_lock_a_pool_of_one_watches_the_node_before() {
        QueueSnapshot queue = queue(share(1, 1), share(1, 1), share(1, 1));
        assertThat(queue.awaited(1)).isEqualTo(deleted(0));
        assertThat(queue.awaited(2)).isEqualTo(deleted(1));
    }

    @Test
    void of_many_that_want_a_small_share_only_the_first_watches_the_folder() {
        QueueSnapshot queue = queue(share(1, 2), share(1, 2), share(1, 2), share(1, 2), share(1, 2));
        assertThat(queue.awaited(2)).isEqualTo(Awaited.FOLDER);
        assertThat(queue.awaited(3)).isEqualTo(new Awaited(Event.GRANTED, node(2, share(1, 2))));
        assertThat(queue.awaited(4)).isEqualTo(new Awaited(Event.GRANTED, node(3, share(1, 2))));
    }

    @Test
    void all_readers_watch_the_writer_before_them_as_they_will_all_have_room() {
        String reader = share(1, ALL);
        QueueSnapshot queue = queue(reader, share(ALL, ALL), reader, reader, share(ALL, ALL), reader);
        assertThat(queue.awaited(1)).isEqualTo(new Awaited(Event.DELETED, node(0, reader)));
        assertThat(queue.awaited(2)).isEqualTo(new Awaited(Event.DELETED, node(1, share(ALL, ALL))));
        assertThat(queue.awaited(3)).isEqualTo(new Awaited(Event.DELETED, node(1, share(ALL, ALL))));
        assertThat(queue.awaited(4)).isEqualTo(new Awaited(Event.DELETED, node(3, reader)));
        assertThat(queue.awaited(5)).isEqualTo(new Awaited(Event.DELETED, node(4, share(ALL, ALL))));
    }

    /** Five have room when the one goes. The sixth would look for nothing. */
    @Test
    void behind_a_large_share_only_those_watch_it_that_will_have_room() {
        QueueSnapshot queue = queue(
                share(5, 5), share(1, 5), share(1, 5), share(1, 5), share(1, 5), share(1, 5), share(1, 5), share(1, 5));
        for (int i = 1; i <= 5; i++) {
            assertThat(queue.awaited(i)).isEqualTo(new Awaited(Event.DELETED, node(0, share(5, 5))));
        }
        assertThat(queue.awaited(6)).isEqualTo(new Awaited(Event.GRANTED, node(5, share(1, 5))));
        assertThat(queue.awaited(7)).isEqualTo(new Awaited(Event.GRANTED, node(6, share(1, 5))));
    }

    /** Whatever a node watches: as long as that event has not come, it cannot hold. */
    @Test
    void nobody_holds_before_the_event_that_it_watches() {
        SplittableRandom random = new SplittableRandom(1);
        for (int run = 0; run < 3_000; run++) {
            List<String> shares = new ArrayList<>();
            for (int i = 2 + random.nextInt(7); i > 0; i--) {
                int capacity = 1 + random.nextInt(6);
                shares.add(share(1 + random.nextInt(capacity), capacity));
            }
            List<String> nodes = nodes(shares);
            QueueSnapshot queue = QueueSnapshot.of(nodes, true);
            for (int i = queue.holders(); i < nodes.size(); i++) {
                Awaited awaited = queue.awaited(i);
                // Any of the others may have gone.
                for (int gone = 0; gone < 1 << i; gone++) {
                    List<String> left = new ArrayList<>();
                    for (int j = 0; j <= i; j++) {
                        if (j == i || (gone & 1 << j) == 0) {
                            left.add(nodes.get(j));
                        }
                    }
                    QueueSnapshot later = QueueSnapshot.of(left, true);
                    boolean holds = later.indexOf(nodes.get(i)) < later.holders();
                    boolean happened = switch (awaited.event()) {
                        case DELETED -> !left.contains(awaited.node());
                        case GRANTED ->
                            !left.contains(awaited.node()) || later.indexOf(awaited.node()) < later.holders();
                        case CHANGED -> left.size() <= i;
                    };
                    assertThat(happened || !holds)
                            .as("%s watches %s, and holds in %s", nodes.get(i), awaited, left)
                            .isTrue();
                }
            }
        }
    }

    @Test
    void holders_are_told_of_who_needs_all_of_them_and_only_of_the_first_that_waits() {
        QueueSnapshot queue = queue(share(1, 5), share(1, 5), share(5, 5), share(5, 5));
        assertThat(queue.isAnnounced(2)).isTrue();
        assertThat(queue.isAnnounced(3)).isFalse();
        assertThat(queue(share(1, 2), share(1, 2), share(1, 2)).isAnnounced(2)).isFalse();
        assertThat(queue(share(2, 2), share(1, 2)).isAnnounced(1)).isTrue();
    }

    private static String share(int weight, int capacity) {
        return QueueSnapshot.share(weight, capacity);
    }

    private static Awaited deleted(int number) {
        return new Awaited(Event.DELETED, node(number, share(1, 1)));
    }

    private static String node(int number, String share) {
        return QueueSnapshot.prefix("c:" + number, 1) + share + String.format("%010d", number);
    }

    private static List<String> nodes(List<String> shares) {
        List<String> nodes = new ArrayList<>();
        for (int i = 0; i < shares.size(); i++) {
            nodes.add(node(i, shares.get(i)));
        }
        return nodes;
    }

    private static QueueSnapshot queue(String... shares) {
        return QueueSnapshot.of(nodes(List.of(shares)), true);
    }
}
