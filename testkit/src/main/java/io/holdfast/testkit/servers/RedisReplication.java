package io.holdfast.testkit.servers;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * A master with replicas and, optionally, three sentinels that watch it. All are real servers on free ports of the
 * loopback interface, each a {@link RedisServer} that a test may pause, kill and restart. When {@link Builder#start}
 * returns, the replicas are in step and the sentinels know each other.
 *
 * <pre>{@code
 * try (RedisReplication servers = RedisReplication.builder().sentinels().start();
 *         LockClient locks = LockClient.connect(servers.sentinelUri())) {
 *     RedisServer master = servers.master();
 *     master.kill();
 *     servers.awaitMasterOtherThan(master);
 *     locks.run("order:42", lease -> orders.refund(42));      // on the new master
 * }
 * }</pre>
 *
 * <p>Thread-safe, but only one thread may change roles. Ends like its servers, with {@link #close} or with this JVM.
 */
public final class RedisReplication implements AutoCloseable {

    /** The master's name at the sentinels. */
    public static final String MASTER_NAME = "holdfast";

    /** The users of the sentinels and of the replicas at a master that can be isolated. */
    private static final String WATCHER = "watcher";

    private static final String FOLLOWER = "follower";
    private static final String PASSWORD = "pw";

    private static final Duration START_TIMEOUT = Duration.ofSeconds(40);

    /** A sentinel that was delayed does nothing for 30 s, by its own rule (TILT). */
    private static final Duration IN_STEP_TIMEOUT = Duration.ofSeconds(90);

    private static final Duration FAILOVER_TIMEOUT = Duration.ofSeconds(40);

    /** The settings of the servers to start. Not thread-safe. */
    public static final class Builder {

        private @Nullable Installation installation;
        private int replicas = 2;
        private int sentinels;
        private Duration downAfter = Duration.ofSeconds(1);
        private List<String> args = List.of();
        private @Nullable ServerTls tls;
        private boolean isolatable;

        private Builder() {}

        /** Sets the server's program to one of {@link RedisServer#available()}; by default the bundled one. */
        public Builder installation(Installation installation) {
            this.installation = installation;
            return this;
        }

        /** Sets the number of replicas; 2 by default. */
        public Builder replicas(int replicas) {
            this.replicas = replicas;
            return this;
        }

        /** Adds three sentinels, of which two must agree. */
        public Builder sentinels() {
            this.sentinels = 3;
            return this;
        }

        /** Sets how long a server must be silent until a sentinel treats it as down; a second by default. */
        public Builder downAfter(Duration downAfter) {
            this.downAfter = downAfter;
            return this;
        }

        /** Adds TLS among all servers and for clients. */
        public Builder tls(ServerTls how) {
            this.tls = how;
            return this;
        }

        /** Allows calls of {@link RedisReplication#isolate}. Clients then need a password, which is in the URI. */
        public Builder isolatable() {
            this.isolatable = true;
            return this;
        }

        /** Sets further arguments of the command line of master and replicas. */
        public Builder args(String... args) {
            this.args = List.of(args);
            return this;
        }

        /**
         * Starts all servers and waits until they are in step.
         *
         * @throws IllegalStateException if they do not come up; then no process is left
         */
        public RedisReplication start() {
            List<String> all = new ArrayList<>(args);
            if (isolatable) {
                all.addAll(List.of("--user", WATCHER, "on", ">" + PASSWORD, "&*", "+@all"));
                all.addAll(List.of("--user", FOLLOWER, "on", ">" + PASSWORD, "+psync", "+replconf", "+ping"));
                all.addAll(List.of("--masteruser", FOLLOWER, "--masterauth", PASSWORD));
            }
            RedisServer.Builder server = RedisServer.builder().args(all.toArray(new String[0]));
            RedisServer.Builder sentinel = RedisServer.builder().role(ServerRole.SENTINEL);
            if (installation != null) {
                server.installation(installation);
                sentinel.installation(installation);
            }
            if (isolatable) {
                server.password(PASSWORD);
            }
            if (tls != null) {
                server.tls(tls);
                sentinel.tls(tls);
            }
            List<RedisServer> servers = Topology.startAll(1 + replicas, server::start);
            List<RedisServer> watchers = List.of();
            try {
                watchers = Topology.startAll(sentinels, sentinel::start);
                RedisReplication formed = new RedisReplication(servers, watchers, tls != null, isolatable);
                formed.form(downAfter);
                return formed;
            } catch (RuntimeException e) {
                Topology.closeAll(watchers);
                Topology.closeAll(servers);
                throw e;
            }
        }
    }

    private final List<RedisServer> servers;
    private final List<RedisServer> sentinels;
    private final boolean tls;
    private final boolean isolatable;

    private RedisReplication(List<RedisServer> servers, List<RedisServer> sentinels, boolean tls, boolean isolatable) {
        this.servers = servers;
        this.sentinels = sentinels;
        this.tls = tls;
        this.isolatable = isolatable;
    }

    /** Returns a builder; by default, for a master and two replicas without sentinels. */
    public static Builder builder() {
        return new Builder();
    }

    /**
     * Returns the master: the server that most sentinels name; without sentinels, the one running server that reports
     * itself as the master.
     *
     * @throws IllegalStateException if there is none, or more than one and no sentinel to decide
     */
    public RedisServer master() {
        List<RedisServer> found = new ArrayList<>();
        for (RedisServer server : servers) {
            boolean master = sentinels.isEmpty() ? isMaster(server) : votes(server) > sentinels.size() / 2;
            if (master) {
                found.add(server);
            }
        }
        if (found.size() != 1) {
            throw new IllegalStateException("expected one master, found " + found);
        }
        return found.get(0);
    }

    /** Returns all servers except the master, running or not. */
    public List<RedisServer> replicas() {
        RedisServer master = master();
        return servers.stream().filter(server -> server != master).toList();
    }

    /** Returns master and replicas in the order of their start; the first was the first master. */
    public List<RedisServer> servers() {
        return servers;
    }

    public List<RedisServer> sentinels() {
        return sentinels;
    }

    /** Returns the store URI: {@code redis-sentinel://host:port,host:port,host:port/0#holdfast}. */
    public String sentinelUri() {
        return sentinelUri(Topology.addresses(sentinels));
    }

    /** Returns the store URI with other addresses for the sentinels, for example those of proxies. */
    public String sentinelUri(String addresses) {
        return (tls ? "rediss-sentinel://" : "redis-sentinel://")
                + (isolatable ? ":" + PASSWORD + "@" : "")
                + addresses + "/0#" + MASTER_NAME;
    }

    /**
     * Makes a replica the master while the old master is up, as an operator does, and waits until all servers know.
     * Sentinels do it by order; without them this method does it. Writes that the new master has not received are lost.
     *
     * @return the new master
     */
    public RedisServer failover() {
        RedisServer before = master();
        if (sentinels.isEmpty()) {
            RedisServer next = replicas().get(0);
            promote(next);
            return next;
        }
        // The sentinel refuses until it has heard from a replica that could be promoted.
        Topology.await("a sentinel begins a failover", FAILOVER_TIMEOUT, () -> {
            sentinels.get(0).command("SENTINEL", "FAILOVER", MASTER_NAME);
            return true;
        });
        return awaitMasterOtherThan(before);
    }

    /**
     * Waits until there is another master after this one was killed, paused or cut off.
     *
     * @return the new master, which reports itself as the master and which all sentinels name
     */
    public RedisServer awaitMasterOtherThan(RedisServer before) {
        Topology.await("there is another master than " + before, FAILOVER_TIMEOUT, () -> {
            RedisServer now = master();
            return now != before && isMaster(now) && (sentinels.isEmpty() || votes(now) == sentinels.size());
        });
        return master();
    }

    /** Promotes a replica by hand and lets the other running servers follow it, even the old master. */
    public void promote(RedisServer replica) {
        replica.command("REPLICAOF", "NO", "ONE");
        for (RedisServer server : servers) {
            if (server != replica && server.isUp()) {
                follow(server, replica);
            }
        }
        awaitInStep(replica);
    }

    /**
     * Stops replication from the master, so that later writes reach no replica; or resumes it. All other connections
     * stay: the sentinels see a healthy master. (A pause of the replicas would not be enough: they apply the writes in
     * their sockets when they continue.)
     */
    public void cutReplication(boolean cut) {
        RedisServer master = master();
        Topology.refuseReplicas(master, cut);
        if (!cut) {
            awaitInStep(master);
        }
    }

    /**
     * Cuts a server off from the sentinels and the other servers, but not from clients; or ends the cut. Needs {@link
     * Builder#isolatable}.
     */
    public void isolate(RedisServer server, boolean cut) {
        if (!isolatable) {
            throw new IllegalStateException("not built isolatable()");
        }
        for (String user : List.of(WATCHER, FOLLOWER)) {
            server.command("ACL", "SETUSER", user, cut ? "off" : "on");
            if (cut) {
                server.command("CLIENT", "KILL", "USER", user);
            }
        }
    }

    /** Waits until every running replica has the data of the master. */
    public void awaitInStep() {
        // Looks for the master each time: sentinels may promote another server during the wait.
        Topology.await("all replicas are in step with their master", IN_STEP_TIMEOUT, () -> areInStep(master()));
    }

    /** Ends all servers. */
    @Override
    public void close() {
        Topology.closeAll(sentinels);
        Topology.closeAll(servers);
    }

    private void form(Duration downAfter) {
        RedisServer master = servers.get(0);
        for (RedisServer server : servers) {
            server.command("CONFIG", "SET", "repl-diskless-sync", "yes");
            server.command("CONFIG", "SET", "repl-diskless-sync-delay", "0");
            if (server != master) {
                follow(server, master);
            }
        }
        awaitInStep(master);
        for (RedisServer sentinel : sentinels) {
            sentinel.command(
                    "SENTINEL",
                    "MONITOR",
                    MASTER_NAME,
                    master.host(),
                    String.valueOf(master.announcedPort()),
                    String.valueOf(sentinels.size() / 2 + 1));
            if (isolatable) {
                sentinel.command("SENTINEL", "SET", MASTER_NAME, "auth-user", WATCHER, "auth-pass", PASSWORD);
            }
            sentinel.command(
                    "SENTINEL",
                    "SET",
                    MASTER_NAME,
                    "down-after-milliseconds",
                    String.valueOf(downAfter.toMillis()),
                    "failover-timeout",
                    String.valueOf(Math.max(3_000, 3 * downAfter.toMillis())),
                    "parallel-syncs",
                    String.valueOf(servers.size()));
        }
        for (RedisServer sentinel : sentinels) {
            Topology.await(sentinel + " knows all others", START_TIMEOUT, () -> {
                List<?> others = (List<?>) sentinel.command("SENTINEL", "SENTINELS", MASTER_NAME);
                List<?> replicas = (List<?>) sentinel.command("SENTINEL", "REPLICAS", MASTER_NAME);
                return others != null
                        && others.size() == sentinels.size() - 1
                        && replicas != null
                        && replicas.size() == servers.size() - 1;
            });
        }
    }

    private static long offset(RedisServer server, String field) {
        return Long.parseLong(Topology.info(server, "replication", field));
    }

    private void awaitInStep(RedisServer master) {
        Topology.await("all replicas are in step with " + master, IN_STEP_TIMEOUT, () -> areInStep(master));
    }

    private boolean areInStep(RedisServer master) {
        List<RedisServer> replicas = servers.stream()
                .filter(server -> server != master && server.isUp())
                .toList();
        // Reads the master's offset first: a master in use is ahead again by the time that it answers.
        long offset = offset(master, "master_repl_offset");
        return replicas.stream()
                        .allMatch(replica -> Topology.info(replica, "replication", "master_link_status")
                                        .equals("up")
                                && Topology.info(replica, "replication", "master_port")
                                        .equals(String.valueOf(master.announcedPort()))
                                && offset(replica, "slave_repl_offset") >= offset)
                // A replica that received all data again confirms nothing before its first message.
                && IntStream.range(0, replicas.size())
                        .allMatch(each -> Topology.info(master, "replication", "slave" + each)
                                .contains("state=online"));
    }

    private long votes(RedisServer server) {
        return sentinels.stream()
                .filter(sentinel -> sentinel.isUp()
                        && List.of(server.host(), String.valueOf(server.announcedPort()))
                                .equals(sentinel.command("SENTINEL", "GET-MASTER-ADDR-BY-NAME", MASTER_NAME)))
                .count();
    }

    private static void follow(RedisServer replica, RedisServer master) {
        replica.command("REPLICAOF", master.host(), String.valueOf(master.announcedPort()));
    }

    private static boolean isMaster(RedisServer server) {
        return server.isUp() && Topology.info(server, "replication", "role").equals("master");
    }
}
