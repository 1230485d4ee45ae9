package io.holdfast.samples.recipes;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Leadership;
import io.holdfast.LockClient;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ScheduledReportsTest {

    private static final long STOPS_AFTER_MILLIS = 300;

    /** Who writes now. */
    private final AtomicReference<@Nullable Node> writing = new AtomicReference<>();

    private final AtomicLong lastToken = new AtomicLong();
    private final BlockingQueue<String> violations = new LinkedBlockingQueue<>();
    private final BlockingQueue<Node> written = new LinkedBlockingQueue<>();

    @Test
    void one_node_writes_at_a_time_and_the_next_one_follows() throws Exception {
        try (Fleet fleet = Fleet.of(3)) {
            List<Node> nodes = nodes(fleet, 3, false);
            for (int term = 0; term < 3; term++) {
                Node leader = nextWriter();
                // Again after a second, and nobody else meanwhile.
                assertThat(nextWriter()).isSameAs(leader);
                leader.end();
                nodes.remove(leader);
            }
            assertThat(nodes).isEmpty();
        }
        assertThat(violations).isEmpty();
    }

    @Test
    void the_next_leader_waits_until_a_long_report_has_stopped() throws Exception {
        try (Fleet fleet = Fleet.of(2)) {
            List<Node> nodes = nodes(fleet, 2, true);
            Node first = nextWriter();
            first.leadership.resign();
            Node second = nextWriter();
            assertThat(second).isNotSameAs(first);
            nodes.forEach(Node::end);
        }
        assertThat(violations).isEmpty();
        assertThat(writing).hasNullValue();
    }

    @Test
    void a_leader_that_lost_its_lease_stops_and_stands_again() throws Exception {
        try (Fleet fleet = Fleet.of(2)) {
            List<Node> nodes = nodes(fleet, 2, true);
            Node first = nextWriter();
            first.locks.forceRelease("leader:reports");
            assertThat(first.stopped.await(10, SECONDS)).isTrue();
            // Most often the other one. A node that has just begun to listen may miss its turn.
            Node second = nextWriter();
            second.end();
            assertThat(nextWriter()).isNotSameAs(second);
            nodes.forEach(Node::end);
        }
    }

    @Test
    void without_the_lock_every_node_writes() throws Exception {
        try (Fleet fleet = Fleet.withoutCommonStore(2)) {
            List<Node> nodes = nodes(fleet, 2, true);
            nextWriter();
            nextWriter();
            nodes.forEach(Node::end);
        }
        assertThat(violations).isNotEmpty();
    }

    private Node nextWriter() throws InterruptedException {
        Node next = written.poll(10, SECONDS);
        assertThat(next).isNotNull();
        return next;
    }

    private List<Node> nodes(Fleet fleet, int size, boolean isLong) {
        List<Node> nodes = new ArrayList<>();
        for (int i = 0; i < size; i++) {
            nodes.add(new Node(fleet.node(i), isLong));
        }
        return nodes;
    }

    private final class Node implements ScheduledReports.Report {

        final LockClient locks;
        final Leadership leadership;
        final CountDownLatch stopped = new CountDownLatch(1);

        /** Whether a report takes until it is interrupted, and a while to stop then. */
        private final boolean isLong;

        Node(LockClient locks, boolean isLong) {
            this.locks = locks;
            this.isLong = isLong;
            leadership = ScheduledReports.campaign(locks, this);
        }

        void end() {
            leadership.close();
        }

        @Override
        public void write(long fencingToken) {
            if (!writing.compareAndSet(null, this)) {
                violations.add("two write at once");
            }
            if (lastToken.getAndSet(fencingToken) > fencingToken) {
                violations.add("a token is smaller than the one before");
            }
            written.add(this);
            try {
                if (isLong) {
                    new CountDownLatch(1).await();
                }
            } catch (InterruptedException e) {
                stop();
            } finally {
                writing.compareAndSet(this, null);
                stopped.countDown();
            }
        }

        private void stop() {
            try {
                MILLISECONDS.sleep(STOPS_AFTER_MILLIS);
            } catch (InterruptedException e) {
                violations.add("interrupted twice");
            }
        }
    }
}
