package io.holdfast.testkit;

import io.holdfast.testkit.RedisServer.Installation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * A master with replicas and, if wanted, three sentinels that watch over it: real servers on free ports of the loopback
 * interface, each a {@link RedisServer} that a test may pause, kill and restart. When {@link Builder#start} returns, the
 * replicas are in step and the sentinels know each other.
 *
 * <p>Thread-safe, but for tests that change roles from one thread. Ends like its servers, with {@link #close} or with
 * this JVM.
 */
public final class RedisReplication implements AutoCloseable {

    /** The master's name at the sentinels. */
    public static final String MASTER_NAME = "holdfast";

    /** What the sentinels, and the replicas, log in as at a master that can be isolated. */
    private static final String WATCHER = "watcher";

    private static final String FOLLOWER = "follower";
    private static final String PASSWORD = "pw";

    private static final Duration START_TIMEOUT = Duration.ofSeconds(40);

    /** A sentinel that was held up does nothing for 30 s after it, by its own rule (TILT). */
    private static final Duration IN_STEP_TIMEOUT = Duration.ofSeconds(90);

    private static final Duration FAILOVER_TIMEOUT = Duration.ofSeconds(40);

    /** What to start. Not thread-safe. */
    public static final class Builder {

        private @Nullable Installation installation;
        private int replicas = 2;
        private int sentinels;
        private Duration downAfter = Duration.ofSeconds(1);
        private List<String> args = List.of();
        private @Nullable ServerTls tls;
        private boolean isolatable;

        private Builder() {}

        /** A server out of {@link RedisServer#available()}; the bundled one without it. */
        public Builder installation(Installation installation) {
            this.installation = installation;
            return this;
        }

        /** How many replicas, 2 unless told. */
        public Builder replicas(int replicas) {
            this.replicas = replicas;
            return this;
        }

        /** With three sentinels, of which two must agree. */
        public Builder sentinels() {
            this.sentinels = 3;
            return this;
        }

        /** How long a server must be silent until a sentinel takes it for down, a second unless told. */
        public Builder downAfter(Duration downAfter) {
            this.downAfter = downAfter;
            return this;
        }

        /** With TLS among all servers and for clients. */
        public Builder tls(ServerTls how) {
            this.tls = how;
            return this;
        }

        /** So that {@link RedisReplication#isolate} can be called; clients then need a password, which is in the URI. */
        public Builder isolatable() {
            this.isolatable = true;
            return this;
        }

        /** More arguments for the command line of master and replicas. */
        public Builder args(String... args) {
            this.args = List.of(args);
            return this;
        }

        /**
         * Starts all servers and waits until they are in step.
         *
         * @throws IllegalStateException if they do not come up; nothing is left running then
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

    /** A master and two replicas without sentinels, unless told otherwise. */
    public static Builder builder() {
        return new Builder();
    }

    /**
     * The server that is the master: the one that most sentinels name, else the one running server that says so of
     * itself.
     *
     * @throws IllegalStateException if there is none, or more than one and no sentinel to say which
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

    /** All servers but the master, running or not. */
    public List<RedisServer> replicas() {
        RedisServer master = master();
        return servers.stream().filter(server -> server != master).toList();
    }

    /** Master and replicas in the order in which they were started; the first was the first master. */
    public List<RedisServer> servers() {
        return servers;
    }

    public List<RedisServer> sentinels() {
        return sentinels;
    }

    /** The address as a store URI: {@code redis-sentinel://host:port,host:port,host:port/0#holdfast}. */
    public String sentinelUri() {
        return sentinelUri(Topology.addresses(sentinels));
    }

    /** The same with other addresses of the sentinels, as of proxies to them. */
    public String sentinelUri(String addresses) {
        return (tls ? "rediss-sentinel://" : "redis-sentinel://")
                + (isolatable ? ":" + PASSWORD + "@" : "")
                + addresses + "/0#" + MASTER_NAME;
    }

    /**
     * Makes a replica the master while the old one is up, as an operator does, and waits until everybody knows. With
     * sentinels by their order, without them by hand. What the new master has not got yet is lost.
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
        // Refused while the sentinel has not yet heard from a replica that could be promoted.
        Topology.await("a sentinel begins a failover", FAILOVER_TIMEOUT, () -> {
            sentinels.get(0).command("SENTINEL", "FAILOVER", MASTER_NAME);
            return true;
        });
        return awaitMasterOtherThan(before);
    }

    /**
     * Waits until there is another master: after this one was killed, paused or cut off.
     *
     * @return the new master, which calls itself that and which all sentinels name
     */
    public RedisServer awaitMasterOtherThan(RedisServer before) {
        Topology.await("there is another master than " + before, FAILOVER_TIMEOUT, () -> {
            RedisServer now = master();
            return now != before && isMaster(now) && (sentinels.isEmpty() || votes(now) == sentinels.size());
        });
        return master();
    }

    /** Promotes a replica by hand and lets the other running servers follow it, the old master included. */
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
     * Stops replication from the master, so that what it is told from now on reaches no replica; or lets it go on.
     * Everything else keeps its connections: the sentinels see a healthy master. (To stop the replicas' processes would not
     * do: what waits in their sockets is applied when they go on.)
     */
    public void cutReplication(boolean cut) {
        RedisServer master = master();
        Topology.refuseReplicas(master, cut);
        if (!cut) {
            awaitInStep(master);
        }
    }

    /**
     * Cuts a server off from the sentinels and the other servers, but not from clients; or ends that. Only if it was built
     * {@link Builder#isolatable}.
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

    /** Waits until every running replica has what the master has. */
    public void awaitInStep() {
        // Asked each time: while it waits, sentinels may make another one the master.
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
        // Asked first: a master in use is ahead again by the time that it answers.
        long offset = offset(master, "master_repl_offset");
        return replicas.stream()
                        .allMatch(replica -> Topology.info(replica, "replication", "master_link_status")
                                        .equals("up")
                                && Topology.info(replica, "replication", "master_port")
                                        .equals(String.valueOf(master.announcedPort()))
                                && offset(replica, "slave_repl_offset") >= offset)
                // A replica that was sent everything anew confirms nothing before its first message.
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
