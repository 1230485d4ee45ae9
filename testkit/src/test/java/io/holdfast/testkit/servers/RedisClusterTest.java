package io.holdfast.testkit.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class RedisClusterTest {

    private static RedisCluster cluster;

    @BeforeAll
    static void start() {
        cluster = RedisCluster.start();
    }

    @AfterAll
    static void stop() {
        cluster.close();
    }

    @Test
    void threeMastersShareTheSlotsAndHaveAReplicaEach() {
        assertThat(cluster.nodes()).hasSize(6);
        List<RedisServer> masters = cluster.masters();
        assertThat(masters).hasSize(3);
        for (RedisServer master : masters) {
            assertThat(cluster.replicasOf(master)).hasSize(1).doesNotContainAnyElementsOf(masters);
        }
        assertThat(cluster.slotOf("foo")).isEqualTo(12182);
        assertThat(cluster.nodeOf("foo")).isSameAs(cluster.nodeOf(12182)).isIn(masters);
        assertThat(cluster.nodeOf("foo").command("SET", "foo", "1")).isEqualTo("OK");
        RedisServer other = masters.stream()
                .filter(master -> master != cluster.nodeOf("foo"))
                .findFirst()
                .orElseThrow();
        assertThatThrownBy(() -> other.command("GET", "foo")).hasMessageStartingWith("MOVED 12182");
    }

    @Test
    void aNodeThatMissesASlotIsWaitedForEvenIfItNeedsNoFullCoverage() {
        try (RedisCluster partial = RedisCluster.builder()
                .replicasEach(0)
                .args("--cluster-require-full-coverage", "no")
                .start()) {
            RedisServer viewer = partial.nodes().get(0);
            RedisServer owner = partial.nodes().get(1);
            int slot = partial.aSlotOf(owner);
            // The owner's next messages tell the viewer again.
            viewer.command("CLUSTER", "DELSLOTS", String.valueOf(slot));
            partial.awaitOk();
            assertThat(partial.nodeOf(slot)).isSameAs(owner);
        }
    }

    @Test
    void aSlotMigratesStepByStep() {
        RedisServer from = cluster.nodeOf("{m}1");
        RedisServer to =
                cluster.masters().stream().filter(m -> m != from).findFirst().orElseThrow();
        from.command("SET", "{m}1", "a", "PX", "60000");
        from.command("SET", "{m}2", "b");
        SlotMigration migration = cluster.migrate(cluster.slotOf("{m}1"), to);
        assertThatThrownBy(() -> from.command("SET", "{m}3", "c")).hasMessageStartingWith("ASK");
        assertThat(migration.remainingKeys()).containsExactlyInAnyOrder("{m}1", "{m}2");
        migration.moveKey("{m}1");
        assertThat(from.command("GET", "{m}2")).isEqualTo("b");
        assertThatThrownBy(() -> from.command("MGET", "{m}1", "{m}2"))
                .hasMessageMatching("(ASK|TRYAGAIN) .*"); // before 7.0, and since

        migration.finish();
        assertThat(cluster.nodeOf("{m}1")).isSameAs(to);
        assertThat(to.command("MGET", "{m}1", "{m}2")).isEqualTo(List.of("a", "b"));
        assertThat((Long) to.command("PTTL", "{m}1")).isBetween(1L, 60_000L);
        assertThatThrownBy(() -> from.command("GET", "{m}1")).hasMessageStartingWith("MOVED");
    }

    @Test
    @Tag("deep") // quick: ClusterFaultsTest.aMasterFailsOverInGoodOrder of redis
    void aReplicaTakesOverByOrderAndAfterAKill() {
        RedisServer first = cluster.nodeOf("f");
        first.command("SET", "f", "1");
        RedisServer second = cluster.failover(first);
        assertThat(cluster.nodeOf("f")).isSameAs(second).isNotSameAs(first);
        assertThat(second.command("GET", "f")).isEqualTo("1");

        cluster.cutReplication(second, true);
        second.command("SET", "f", "lost");
        int slot = cluster.slotOf("f");
        second.kill();
        RedisServer third = cluster.awaitMasterOtherThan(second, slot);
        assertThat(third).isSameAs(first);
        assertThat(third.command("GET", "f")).isEqualTo("1");
        second.restart();
        cluster.awaitOk();
    }
}
