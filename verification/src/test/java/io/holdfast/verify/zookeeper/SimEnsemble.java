package io.holdfast.verify.zookeeper;

import io.holdfast.memory.VirtualTime;
import io.holdfast.spi.TimeSource;
import io.holdfast.zookeeper.VerifyZooKeeper;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A ZooKeeper ensemble as its clients see it, with all that can go wrong between its servers, and between them and
 * clients. Elections are done by somebody who knows all; what a leader and its followers do is theirs.
 */
public final class SimEnsemble {

    /** After so many ticks without a word, a follower leaves its leader, and the leader its follower. */
    static final int SYNC_LIMIT = 5;

    private static final long LOOK_NANOS = 40_000_000;

    /** What there is, and how bad the network is; delays are the longest ones, in nanoseconds. */
    public record Shape(
            int servers,
            int tickMillis,
            int sessionMillis,
            long delayNanos,
            long peerDelayNanos,
            double cuts,
            double slowThreads,
            long containerNanos) {}

    final VirtualTime world;
    final SimBlocked blocked;
    final long tickNanos;
    final long containerNanos;
    private final SplittableRandom random;
    private final Shape shape;
    private final List<SimMember> members = new ArrayList<>();
    private final List<SimClient> clients = new ArrayList<>();

    /** Until when nothing passes between two, by their names. */
    private final Map<String, Long> cutUntilNanos = new HashMap<>();

    private final Map<SimMember, Integer> limits = new HashMap<>();
    private LongConsumer expired = id -> {};
    private boolean fine;
    private long sessions = 0x1000;

    public SimEnsemble(VirtualTime world, SplittableRandom random, Shape shape) {
        this.world = world;
        blocked = new SimBlocked(world);
        this.random = random;
        this.shape = shape;
        tickNanos = shape.tickMillis() * 1_000_000L;
        containerNanos = shape.containerNanos();
        for (int i = 0; i < shape.servers(); i++) {
            members.add(new SimMember(this, i, 1 + (random.nextDouble() - 0.5) / 125));
        }
        elect(anyServer());
        world.schedule(LOOK_NANOS, this::lookAgain);
    }

    /** The real store of a process, connected some time later. */
    public SimClient connect(
            String processId,
            TimeSource time,
            Consumer<Runnable> delivery,
            long commandTimeoutMillis,
            EnsembleBug bug) {
        SimClient client =
                new SimClient(this, processId, time, delivery, shape.sessionMillis(), commandTimeoutMillis, bug);
        clients.add(client);
        return client;
    }

    // --- elections ---

    private void lookAgain() {
        look();
        world.schedule(LOOK_NANOS, this::lookAgain);
    }

    /** Those who look for a leader find one, or elect one if they are a majority. */
    private void look() {
        for (SimMember member : members) {
            if (member.isLooking() && !joins(member) && random.nextInt(4) == 0) {
                elect(member);
            }
        }
    }

    private boolean joins(SimMember member) {
        for (SimMember leader : members) {
            SimLeadership leadership = leader.leadership();
            if (leadership != null
                    && !leader.isStopped()
                    && leadership.epoch >= member.epoch()
                    && !isCut(member, leader)) {
                member.follow(leader);
                return true;
            }
        }
        return false;
    }

    private void elect(SimMember caller) {
        List<SimMember> group = reachable(caller);
        SimMember best = group.stream()
                .max(Comparator.comparingLong(SimMember::epoch)
                        .thenComparingLong(SimMember::lastZxid)
                        .thenComparingInt(m -> m.id))
                .orElseThrow();
        List<SimMember> followers = new ArrayList<>(reachable(best));
        followers.retainAll(group);
        if (followers.size() <= members.size() / 2) {
            return;
        }
        long epoch = followers.stream().mapToLong(SimMember::epoch).max().orElse(0) + 1;
        best.lead(epoch);
        followers.stream().filter(member -> member != best).forEach(member -> member.follow(best));
    }

    private List<SimMember> reachable(SimMember from) {
        return members.stream()
                .filter(SimMember::isLooking)
                .filter(member -> member == from || !isCut(member, from))
                .toList();
    }

    // --- for servers and clients ---

    int size() {
        return members.size();
    }

    SimMember anyServer() {
        return members.get(random.nextInt(members.size()));
    }

    boolean coin() {
        return random.nextBoolean();
    }

    long upTo(long nanos) {
        return random.nextLong(Math.max(1, nanos));
    }

    long newSessionId() {
        return ++sessions;
    }

    /** Servers allow two to twenty of their ticks; some, less. */
    int negotiate(SimMember server, int wanted) {
        int most = limits.getOrDefault(server, 20 * shape.tickMillis());
        return Math.max(2 * shape.tickMillis(), Math.min(most, wanted));
    }

    /** How far a thread of a client is behind. */
    long slowness() {
        return fine || random.nextDouble() >= shape.slowThreads()
                ? random.nextLong(100_000)
                : random.nextLong(300_000_000);
    }

    boolean isCutHere() {
        return !fine && random.nextDouble() < shape.cuts();
    }

    long delayNanosMax() {
        return fine ? 1_000_000 : shape.delayNanos();
    }

    long peerDelayNanos() {
        return random.nextLong(fine ? 500_000 : shape.peerDelayNanos());
    }

    void later(Runnable task) {
        world.schedule(random.nextLong(delayNanosMax()), task);
    }

    SimPipe pipe(SimMember from, SimMember to) {
        return new SimPipe(
                world, blocked, this::peerDelayNanos, () -> Math.max(cutUntil(from, to), to.blockedUntilNanos()));
    }

    SimPipe pipeFrom(SimClient from, SimMember to) {
        return new SimPipe(
                world,
                blocked,
                () -> random.nextLong(delayNanosMax()),
                () -> Math.max(cutUntil(from, to), to.blockedUntilNanos()));
    }

    SimPipe pipeTo(SimMember from, SimClient to) {
        return new SimPipe(world, blocked, () -> random.nextLong(delayNanosMax()), () -> cutUntil(to, from));
    }

    void expires(long session) {
        expired.accept(session);
    }

    // --- cuts ---

    private static String pair(SimMember one, SimMember other) {
        return Math.min(one.id, other.id) + "-" + Math.max(one.id, other.id);
    }

    private String pair(SimClient client, SimMember server) {
        return "c" + clients.indexOf(client) + "-" + server.id;
    }

    private long cutUntil(SimMember one, SimMember other) {
        return one == other ? 0 : cutUntilNanos.getOrDefault(pair(one, other), 0L);
    }

    private long cutUntil(SimClient client, SimMember server) {
        return cutUntilNanos.isEmpty() ? 0 : cutUntilNanos.getOrDefault(pair(client, server), 0L);
    }

    boolean isCut(SimMember one, SimMember other) {
        return cutUntil(one, other) > world.nanoTime();
    }

    private void cut(String pair, long nanos) {
        cutUntilNanos.merge(pair, world.nanoTime() + nanos, Math::max);
    }

    // --- what goes wrong ---

    /** Told of each session that a leader wants to end by its clock. */
    public void onExpiry(LongConsumer told) {
        expired = told;
    }

    public int leader() {
        return members.stream()
                .filter(member -> member.leadership() != null)
                .max(Comparator.comparingLong(SimMember::epoch))
                .map(member -> member.id)
                .orElse(-1);
    }

    public void crash(int server, long nanos, boolean withItsMachine) {
        members.get(server).crash(nanos, withItsMachine);
    }

    public void stop(int server, long nanos) {
        members.get(server).stop(nanos);
    }

    /** Between servers only: clients reach it as before. */
    public void cutOffFromServers(int server, long nanos) {
        for (SimMember other : members) {
            if (other.id != server) {
                cut(pair(members.get(server), other), nanos);
            }
        }
    }

    public void cutOff(SimClient client, int server, long nanos) {
        cut(pair(client, members.get(server)), nanos);
    }

    public void cutOff(SimClient client, long nanos) {
        members.forEach(member -> cut(pair(client, member), nanos));
    }

    /** Lets the numbers of each folder of a lock begin there. */
    public void numberFoldersFrom(int made) {
        members.forEach(member -> member.tree.numberFoldersFrom(made));
    }

    /** Sets at all servers how many children of a node were made. */
    void setMade(String path, int made) {
        members.forEach(member -> member.tree.setMade(path, made));
    }

    /** The network, and everything that is stopped or cut off, is well from now on. */
    public void heal() {
        fine = true;
        cutUntilNanos.clear();
        members.forEach(SimMember::resume);
        blocked.end();
    }

    // --- the truth ---

    private SimTree newest() {
        return members.stream()
                .map(member -> member.tree)
                .max(Comparator.comparingLong(SimTree::zxid))
                .orElseThrow();
    }

    private VerifyZooKeeper.Queue line(String name) {
        Object found = newest().children(path(name)).value();
        return new VerifyZooKeeper.Queue(
                found instanceof List<?> nodes
                        ? nodes.stream().map(String::valueOf).toList()
                        : List.of());
    }

    /** What there is in a pool's folder. */
    public VerifyZooKeeper.Queue pool(String name) {
        Object found = newest().children("/locks/~pools/" + VerifyZooKeeper.encode(name))
                .value();
        return new VerifyZooKeeper.Queue(
                found instanceof List<?> nodes
                        ? nodes.stream().map(String::valueOf).toList()
                        : List.of(),
                true);
    }

    private static String path(String name) {
        return "/locks/" + VerifyZooKeeper.encode(name);
    }

    /** Whose it is, or null. */
    public @Nullable String holder(String name) {
        VerifyZooKeeper.Queue line = line(name);
        return line.isEmpty() ? null : line.holder();
    }

    /** Of the node that holds; zero if there is none. */
    public long base(String name) {
        VerifyZooKeeper.Queue line = line(name);
        return line.isEmpty() ? 0 : stat(name, line.node(0)).getCzxid();
    }

    /** The session of the node that holds; zero if there is none. */
    public long session(String name) {
        VerifyZooKeeper.Queue line = line(name);
        return line.isEmpty() ? 0 : stat(name, line.node(0)).getEphemeralOwner();
    }

    private org.apache.zookeeper.data.Stat stat(String name, String node) {
        org.apache.zookeeper.data.Stat stat = newest().stat(path(name) + "/" + node);
        if (stat == null) {
            throw new IllegalStateException("a child that is not there");
        }
        return stat;
    }

    /** What there is in a lock's folder. */
    public String waiting(String name) {
        VerifyZooKeeper.Queue line = line(name);
        List<String> nodes = new ArrayList<>();
        for (int i = 0; i < line.size(); i++) {
            nodes.add(line.node(i));
        }
        return String.join(", ", nodes);
    }

    /** Deletes the node that holds, if there is a leader; false if there is none. */
    public boolean deleteFirst(String name) {
        int leader = leader();
        VerifyZooKeeper.Queue line = line(name);
        SimLeadership leadership = leader < 0 ? null : members.get(leader).leadership();
        if (leadership == null || line.isEmpty()) {
            return line.isEmpty();
        }
        leadership.administer(new SimCommand.Delete(path(name) + "/" + line.node(0)));
        return true;
    }

    @Override
    public String toString() {
        return shape.toString();
    }
}
