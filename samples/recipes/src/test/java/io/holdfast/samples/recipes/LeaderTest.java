package io.holdfast.samples.recipes;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Leadership;
import io.holdfast.LockClient;
import io.holdfast.testkit.OverlapDetector;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.Test;

class LeaderTest {

    private final OverlapDetector terms = new OverlapDetector("leader");
    private final BlockingQueue<Node> started = new LinkedBlockingQueue<>();
    private final BlockingQueue<Node> stopped = new LinkedBlockingQueue<>();

    @Test
    void one_node_leads_at_a_time_and_the_next_one_follows() throws Exception {
        try (Fleet fleet = Fleet.of(3)) {
            List<Node> nodes = nodes(fleet, 3);
            for (int term = 0; term < 3; term++) {
                Node leader = started.poll(10, SECONDS);
                assertThat(leader).as("leader of term %d", term).isNotNull();
                assertThat(started.poll(100, MILLISECONDS)).isNull();
                leader.end();
                assertThat(stopped.poll(10, SECONDS)).isSameAs(leader);
                nodes.remove(leader);
            }
            assertThat(nodes).isEmpty();
        }
        terms.assertClean();
        assertThat(terms.entries()).isEqualTo(3);
    }

    @Test
    void a_leader_that_lost_its_lease_stops_and_stands_again() throws Exception {
        try (Fleet fleet = Fleet.of(2)) {
            List<Node> nodes = nodes(fleet, 2);
            Node first = started.poll(10, SECONDS);
            first.locks.forceRelease("leader:reports");

            assertThat(stopped.poll(10, SECONDS)).isSameAs(first);
            // Most often the other one. A node that has just begun to listen may miss its turn.
            Node second = started.poll(10, SECONDS);
            assertThat(second).isNotNull();
            second.end();
            assertThat(started.poll(10, SECONDS)).isNotNull().isNotSameAs(second);
            for (Node node : nodes) {
                node.end();
            }
        }
    }

    @Test
    void without_the_lock_every_node_leads() throws Exception {
        try (Fleet fleet = Fleet.withoutCommonStore(2)) {
            List<Node> nodes = nodes(fleet, 2);
            assertThat(started.poll(10, SECONDS)).isNotNull();
            assertThat(started.poll(10, SECONDS)).isNotNull();
            for (Node node : nodes) {
                node.end();
            }
        }
        assertThat(terms.violations()).isNotEmpty();
    }

    private List<Node> nodes(Fleet fleet, int size) {
        List<Node> nodes = new ArrayList<>();
        for (int i = 0; i < size; i++) {
            nodes.add(new Node(fleet.node(i)));
        }
        return nodes;
    }

    private final class Node implements Leader.Duties {

        final LockClient locks;
        private final Leadership leadership;

        Node(LockClient locks) {
            this.locks = locks;
            leadership = Leader.stand(locks, this);
        }

        void end() {
            leadership.close();
        }

        @Override
        public void start(long fencingToken) {
            terms.enter(fencingToken);
            started.add(this);
        }

        @Override
        public void stop() {
            terms.leave();
            stopped.add(this);
        }
    }
}
