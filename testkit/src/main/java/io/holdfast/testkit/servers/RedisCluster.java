package io.holdfast.testkit.servers;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A Redis Cluster of real servers on free ports of the loopback interface: by default, three masters that share the
 * slots evenly, each with a replica. Each node is a {@link RedisServer} that a test may pause, kill and restart. When
 * {@link Builder#start} returns, every node knows every other and all slots are served.
 *
 * <pre>{@code
 * try (RedisCluster cluster = RedisCluster.start();
 *         LockClient locks = LockClient.connect(cluster.uri())) {
 *     int slot = cluster.slotOf("lock:order:42");             // the key of the lock order:42
 *     RedisServer master = cluster.nodeOf(slot);
 *     master.kill();
 *     cluster.awaitMasterOtherThan(master, slot);
 *     locks.run("order:42", lease -> orders.refund(42));      // on the replica that took over
 * }
 * }</pre>
 *
 * <p>Thread-safe, but only one thread may change roles. Ends like its servers, with {@link #close} or with this JVM.
 * Needs no {@code redis-cli}.
 */
public final class RedisCluster implements AutoCloseable {

    /** The number of slots of every cluster. */
    public static final int SLOTS = 16_384;

    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    private static final long ORDER_NANOS = 6_000_000_000L;

    /** The settings of a cluster to start. Not thread-safe. */
    public static final class Builder {

        private @Nullable Installation installation;
        private int masters = 3;
        private int replicasEach = 1;
        private Duration nodeTimeout = Duration.ofSeconds(2);
        private List<String> args = List.of();
        private @Nullable ServerTls tls;

        private Builder() {}

        /** Sets the server's program to one of {@link RedisServer#available()}; by default the bundled one. */
        public Builder installation(Installation installation) {
            this.installation = installation;
            return this;
        }

        /** Sets the number of masters; 3 by default. Fewer than three cannot vote on a failover. */
        public Builder masters(int masters) {
            this.masters = masters;
            return this;
        }

        /** Sets the number of replicas of each master; 1 by default. */
        public Builder replicasEach(int replicasEach) {
            this.replicasEach = replicasEach;
            return this;
        }

        /** Sets how long a node must be silent until the others treat it as failed; 2 seconds by default. */
        public Builder nodeTimeout(Duration nodeTimeout) {
            this.nodeTimeout = nodeTimeout;
            return this;
        }

        /** Adds TLS between the nodes and for clients. */
        public Builder tls(ServerTls how) {
            this.tls = how;
            return this;
        }

        /** Sets further arguments of each node's command line. */
        public Builder args(String... args) {
            this.args = List.of(args);
            return this;
        }

        /**
         * Starts all nodes and waits until they are a cluster.
         *
         * @throws IllegalStateException if they do not become a cluster; then no process is left
         */
        public RedisCluster start() {
            List<String> all = new ArrayList<>(List.of(
                    "--cluster-node-timeout",
                    String.valueOf(nodeTimeout.toMillis()),
                    // A replica may take over even after a long cut: tests need the failover with the loss.
                    "--cluster-replica-validity-factor",
                    "0",
                    "--repl-diskless-sync",
                    "yes",
                    "--repl-diskless-sync-delay",
                    "0"));
            all.addAll(args);
            RedisServer.Builder node =
                    RedisServer.builder().role(ServerRole.CLUSTER_NODE).args(all.toArray(new String[0]));
            if (installation != null) {
                node.installation(installation);
            }
            if (tls != null) {
                node.tls(tls);
            }
            List<RedisServer> nodes = Topology.startAll(masters * (1 + replicasEach), node::start);
            try {
                RedisCluster cluster = new RedisCluster(nodes, tls != null);
                cluster.form(masters);
                return cluster;
            } catch (RuntimeException e) {
                Topology.closeAll(nodes);
                throw e;
            }
        }
    }

    private final List<RedisServer> nodes;
    private final boolean tls;

    private RedisCluster(List<RedisServer> nodes, boolean tls) {
        this.nodes = nodes;
        this.tls = tls;
    }

    /** Starts three masters with a replica each. */
    public static RedisCluster start() {
        return builder().start();
    }

    public static Builder builder() {
        return new Builder();
    }

    /** Returns all nodes in the order of their start; the first ones were the masters at the start. */
    public List<RedisServer> nodes() {
        return nodes;
    }

    /** Returns the masters that serve slots, in the view of a running node, in the order of {@link #nodes}. */
    public List<RedisServer> masters() {
        ClusterView view = view();
        return nodes.stream()
                .filter(node -> {
                    ClusterView.Node its = view.at(node.port());
                    return its.isMaster() && !its.slots().isEmpty();
                })
                .toList();
    }

    /** Returns the replicas of a master, in the view of a running node. */
    public List<RedisServer> replicasOf(RedisServer master) {
        ClusterView view = view();
        String id = view.at(master.port()).id();
        return nodes.stream()
                .filter(node -> id.equals(view.at(node.port()).masterId()))
                .toList();
    }

    /**
     * Returns the store URI with all nodes: {@code redis-cluster://host:port,…}, with TLS {@code rediss-cluster://…}.
     */
    public String uri() {
        return (tls ? "rediss-cluster://" : "redis-cluster://") + Topology.addresses(nodes);
    }

    /** Returns the slot of a key. */
    public int slotOf(String key) {
        Object slot = running().command("CLUSTER", "KEYSLOT", key);
        return Math.toIntExact((Long) Objects.requireNonNull(slot));
    }

    /** Returns the master that serves a slot, in the view of a running node. */
    public RedisServer nodeOf(int slot) {
        return byPort(view().masterOf(slot).port());
    }

    /** Returns the master that serves a key's slot. */
    public RedisServer nodeOf(String key) {
        return nodeOf(slotOf(key));
    }

    /**
     * Begins to move a slot to another master: from now on the old master answers ASK for keys that it does not have,
     * until the caller continues the migration.
     */
    public SlotMigration migrate(int slot, RedisServer to) {
        return SlotMigration.begin(slot, nodeOf(slot), to, this::masters);
    }

    /**
     * Lets a master's first replica take over in good order, without loss, and waits until all nodes know.
     *
     * @return the new master
     */
    public RedisServer failover(RedisServer master) {
        int slot = aSlotOf(master);
        RedisServer replica = replicasOf(master).get(0);
        // A replica abandons such an order after five seconds if the nodes are too busy.
        long[] orderedNanos = {System.nanoTime() - ORDER_NANOS};
        return awaitMasterOtherThan(master, slot, () -> {
            if (System.nanoTime() - orderedNanos[0] >= ORDER_NANOS) {
                orderedNanos[0] = System.nanoTime();
                replica.command("CLUSTER", "FAILOVER");
            }
        });
    }

    /**
     * Waits until a slot has another master after this one was killed, paused or cut off.
     *
     * @return the new master, in the view of every other running node
     */
    public RedisServer awaitMasterOtherThan(RedisServer before, int slot) {
        return awaitMasterOtherThan(before, slot, () -> {});
    }

    /** @param meanwhile runs before each look */
    private RedisServer awaitMasterOtherThan(RedisServer before, int slot, Runnable meanwhile) {
        Topology.await("slot " + slot + " has another master than " + before, TIMEOUT, () -> {
            meanwhile.run();
            int port = -1;
            for (RedisServer node : nodes) {
                if (node != before && node.isUp()) {
                    int seen = ClusterView.of(node).masterOf(slot).port();
                    if (seen == before.port() || (port >= 0 && port != seen) || !isOk(node)) {
                        return false;
                    }
                    port = seen;
                }
            }
            return port >= 0;
        });
        return view().nodes().stream()
                .filter(node -> node.isMaster() && node.serves(slot) && node.port() != before.port())
                .map(node -> byPort(node.port()))
                .findFirst()
                .orElseThrow();
    }

    /** Returns a slot that this master serves. */
    public int aSlotOf(RedisServer master) {
        List<int[]> slots = view().at(master.port()).slots();
        if (slots.isEmpty()) {
            throw new IllegalStateException(master + " serves no slot");
        }
        return slots.get(0)[0];
    }

    /**
     * Stops replication from a master, so that later writes reach no replica; or resumes it. The nodes still see each
     * other.
     */
    public void cutReplication(RedisServer master, boolean cut) {
        Topology.refuseReplicas(master, cut);
        if (!cut) {
            awaitReplicas(master);
        }
    }

    /** Waits until every running node says that all slots are served. */
    public void awaitOk() {
        for (RedisServer node : nodes) {
            if (node.isUp()) {
                Topology.await(node + " sees a cluster that works", TIMEOUT, () -> isOk(node));
            }
        }
    }

    /**
     * Waits until a running node is a replica in every running node's view and in step with its master, and all slots
     * are served.
     */
    public void awaitReplica(RedisServer node) {
        Topology.await(
                node + " is a replica",
                TIMEOUT,
                () -> nodes.stream().filter(RedisServer::isUp).allMatch(viewer -> isReplica(node, viewer))
                        && Topology.info(node, "replication", "master_link_status")
                                .equals("up"));
        awaitOk();
    }

    /**
     * Nodes exchange their roles only from time to time, so some learn of a new replica later than the replica itself.
     */
    private static boolean isReplica(RedisServer node, RedisServer viewer) {
        return ClusterView.of(viewer).at(node.port()).masterId() != null;
    }

    /** Ends all nodes. */
    @Override
    public void close() {
        Topology.closeAll(nodes);
    }

    private void form(int masters) {
        for (int i = 0; i < nodes.size(); i++) {
            RedisServer node = nodes.get(i);
            // Otherwise all nodes begin with the same epoch and first have to resolve that among themselves.
            node.command("CLUSTER", "SET-CONFIG-EPOCH", String.valueOf(i + 1));
            if (i < masters) {
                node.command(addSlots(SLOTS * i / masters, SLOTS * (i + 1) / masters));
            }
        }
        for (RedisServer node : nodes) {
            for (RedisServer other : nodes) {
                if (other != node) {
                    node.command("CLUSTER", "MEET", other.host(), String.valueOf(other.announcedPort()));
                }
            }
        }
        for (RedisServer node : nodes) {
            Topology.await(node + " knows all others", TIMEOUT, () -> {
                ClusterView view = ClusterView.of(node);
                return view.nodes().size() == nodes.size()
                        && view.nodes().stream()
                                .allMatch(n -> n.linked() && !n.flags().contains("handshake"));
            });
        }
        for (int i = masters; i < nodes.size(); i++) {
            String id = ClusterView.idOf(nodes.get(i % masters));
            RedisServer replica = nodes.get(i);
            Topology.await(replica + " becomes a replica", TIMEOUT, () -> {
                replica.command("CLUSTER", "REPLICATE", id);
                return true;
            });
        }
        awaitOk();
        for (RedisServer node : nodes) {
            Topology.await(
                    node + " knows which nodes are replicas",
                    TIMEOUT,
                    () -> ClusterView.of(node).nodes().stream()
                                    .filter(ClusterView.Node::isMaster)
                                    .count()
                            == masters);
        }
        nodes.subList(0, masters).forEach(this::awaitReplicas);
    }

    private void awaitReplicas(RedisServer master) {
        for (RedisServer replica : replicasOf(master)) {
            if (replica.isUp()) {
                Topology.await(
                        replica + " is in step with " + master,
                        TIMEOUT,
                        () -> Topology.info(replica, "replication", "master_link_status")
                                .equals("up"));
            }
        }
    }

    private static String[] addSlots(int from, int to) {
        List<String> command = new ArrayList<>(List.of("CLUSTER", "ADDSLOTS"));
        for (int slot = from; slot < to; slot++) {
            command.add(String.valueOf(slot));
        }
        return command.toArray(new String[0]);
    }

    /** A node that needs no full coverage says ok before it has heard of all slots. */
    private static boolean isOk(RedisServer node) {
        String info = String.valueOf(node.command("CLUSTER", "INFO"));
        return info.contains("cluster_state:ok") && info.contains("cluster_slots_assigned:" + SLOTS);
    }

    /** Returns the view of the first running node. */
    private ClusterView view() {
        return ClusterView.of(running());
    }

    private RedisServer running() {
        for (RedisServer node : nodes) {
            if (node.isUp()) {
                return node;
            }
        }
        throw new IllegalStateException("no node answers");
    }

    private RedisServer byPort(int port) {
        return nodes.stream()
                .filter(node -> node.port() == port)
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("this cluster has no node at port " + port));
    }
}
