package io.holdfast.testkit.servers;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * The migration of a cluster's slot from one master to another, in steps between which a test can stop. The keys move
 * one by one, then {@link #finish} makes the target the slot's master. Until then the source serves the keys that it
 * still has, and answers ASK for others.
 *
 * <pre>{@code
 * String key = "lock:order:42";      // of the lock order:42
 * RedisServer from = cluster.nodeOf(key);
 * RedisServer to = cluster.masters().stream().filter(master -> master != from).findFirst().orElseThrow();
 * SlotMigration migration = cluster.migrate(cluster.slotOf(key), to);
 * migration.moveKey(key);
 * assertThat(lease.isValid()).isTrue();      // while its slot is half moved
 * migration.finish();
 * }</pre>
 *
 * <p>Not thread-safe.
 */
public final class SlotMigration {

    private final Supplier<List<RedisServer>> masters;
    private final int slot;
    private final RedisServer from;
    private final RedisServer to;

    private SlotMigration(int slot, RedisServer from, RedisServer to, Supplier<List<RedisServer>> masters) {
        this.masters = masters;
        this.slot = slot;
        this.from = from;
        this.to = to;
    }

    /** @param masters returns the masters of the cluster at the time of the call */
    static SlotMigration begin(int slot, RedisServer from, RedisServer to, Supplier<List<RedisServer>> masters) {
        SlotMigration migration = new SlotMigration(slot, from, to, masters);
        to.command("CLUSTER", "SETSLOT", String.valueOf(slot), "IMPORTING", ClusterView.idOf(from));
        from.command("CLUSTER", "SETSLOT", String.valueOf(slot), "MIGRATING", ClusterView.idOf(to));
        return migration;
    }

    public RedisServer from() {
        return from;
    }

    public RedisServer to() {
        return to;
    }

    /** Returns the keys of the slot that are still at the source. */
    public List<String> remainingKeys() {
        List<String> keys = new ArrayList<>();
        if (from.command("CLUSTER", "GETKEYSINSLOT", String.valueOf(slot), "10000") instanceof List<?> found) {
            found.forEach(key -> keys.add(String.valueOf(key)));
        }
        return keys;
    }

    /** Moves one key with its expiry. Does nothing if the source does not have it. */
    public void moveKey(String key) {
        from.command("MIGRATE", to.host(), String.valueOf(to.port()), key, "0", "5000");
    }

    /**
     * Moves all keys, even those that are written during the move, and makes the target the slot's master at all nodes.
     */
    public void finish() {
        String id = ClusterView.idOf(to);
        Topology.await("slot " + slot + " is empty at " + from, Duration.ofSeconds(20), () -> {
            remainingKeys().forEach(this::moveKey);
            return remainingKeys().isEmpty();
        });
        // The target first: at every moment one master must claim the slot.
        to.command("CLUSTER", "SETSLOT", String.valueOf(slot), "NODE", id);
        Topology.await("slot " + slot + " leaves " + from, Duration.ofSeconds(20), () -> {
            // The source refuses while it has a key left.
            from.command("CLUSTER", "SETSLOT", String.valueOf(slot), "NODE", id);
            return true;
        });
        for (RedisServer node : masters.get()) {
            if (node != from && node != to) {
                node.command("CLUSTER", "SETSLOT", String.valueOf(slot), "NODE", id);
            }
        }
    }
}
