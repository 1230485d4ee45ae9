package io.holdfast.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.Leadership;
import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.quorum.QuorumStores;
import io.holdfast.quorum.memory.MemoryQuorumNode;
import io.holdfast.spi.TimeSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** What health shows of a quorum, and of several clients; Boot's side of it is in the packages boot3 and boot4. */
class LockHealthTest {

    @Test
    void shows_how_many_members_of_a_quorum_vote() {
        List<MemoryQuorumNode> nodes = new ArrayList<>();
        QuorumStores.Builder quorum = QuorumStores.builder().bootstrap(true);
        for (int i = 0; i < 3; i++) {
            MemoryQuorumNode node = new MemoryQuorumNode("m" + i, TimeSource.system());
            nodes.add(node);
            quorum.member("m" + i, node::connect);
        }
        try (LockClient client = LockClient.builder().store(quorum::open).build()) {
            LockHealth all = LockHealth.of(Map.of("client", client));
            assertThat(all.up()).isTrue();
            assertThat(all.details())
                    .containsEntry("members", 3)
                    .containsEntry("needed", 2)
                    .containsEntry("reachable", 3)
                    .containsEntry("voting", 3);

            // Answers, but has lost its data, and with it its vote for a while.
            nodes.get(0).restartEmpty();
            await().untilAsserted(() -> {
                LockHealth most = LockHealth.of(Map.of("client", client));
                assertThat(most.up()).isTrue();
                assertThat(most.details()).containsEntry("reachable", 3).containsEntry("voting", 2);
                assertThat(most.details().get("withoutVote")).asString().contains("m0 was restarted or is new");
            });
            nodes.get(1).restartEmpty();
            await().untilAsserted(() ->
                    assertThat(LockHealth.of(Map.of("client", client)).up()).isFalse());
        }
    }

    @Test
    void leases_that_are_released_while_it_looks_are_not_lost() throws Exception {
        AtomicBoolean over = new AtomicBoolean();
        try (LockClient client = LockClient.connect("memory:busy")) {
            List<Thread> owners = new ArrayList<>();
            for (int i = 0; i < 50; i++) {
                String name = "busy-" + i;
                Thread owner = new Thread(() -> {
                    while (!over.get()) {
                        try (Lease lease = client.acquire(name)) {
                            Thread.sleep(2);
                            lease.ensureValid();
                        } catch (InterruptedException e) {
                            throw new AssertionError(e);
                        }
                    }
                });
                owners.add(owner);
                owner.start();
            }
            try {
                for (int i = 0; i < 500; i++) {
                    LockHealth health = LockHealth.of(Map.of("client", client));
                    assertThat(health.up()).as("%s", health.details()).isTrue();
                    assertThat(health.details()).doesNotContainKey("lost");
                }
            } finally {
                over.set(true);
                for (Thread owner : owners) {
                    owner.join();
                }
            }
        }
    }

    @Test
    void shows_who_leads_and_is_up_where_another_does() {
        try (LockClient one = LockClient.builder()
                        .uri("memory:leaders")
                        .clientName("one")
                        .build();
                LockClient other = LockClient.builder()
                        .uri("memory:leaders")
                        .clientName("other")
                        .build()) {
            Leadership leader = one.leadership("billing", term -> {});
            await().until(leader::isLeader);
            Leadership follower = other.leadership("billing", term -> {});
            assertThat(LockHealth.of(Map.of("client", one)).details())
                    .containsEntry("leaderships", Map.of("billing", Map.of("leads", true)));
            await().untilAsserted(() -> {
                LockHealth health = LockHealth.of(Map.of("client", other));
                assertThat(health.up()).isTrue();
                assertThat(health.details().get("leaderships"))
                        .asString()
                        .startsWith("{billing={leads=false, leader=one@");
            });
            assertThat(follower.isLeader()).isFalse();
        }
    }

    @Test
    void of_several_clients_shows_each_and_is_up_if_all_are() {
        try (LockClient one = LockClient.connect("memory:one");
                LockClient other = LockClient.connect("memory:other")) {
            LockHealth both = LockHealth.of(Map.of("one", one, "other", other));
            assertThat(both.up()).isTrue();
            assertThat(both.details()).containsOnlyKeys("one", "other");
            assertThat(both.details().get("one")).asString().contains("store=memory", "renewalLag=0 ms");
            LockClient closed = LockClient.connect("memory:closed");
            closed.close();
            assertThat(LockHealth.of(Map.of("one", one, "closed", closed)).up()).isFalse();
        }
    }
}
