package io.holdfast.verify.quorum;

import io.holdfast.quorum.QuorumMember;
import io.holdfast.quorum.QuorumMember.Seen;
import io.holdfast.quorum.VerifyQuorum;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreContext;
import io.holdfast.verify.engine.SimFaults;
import io.holdfast.verify.engine.SimProcess;
import io.holdfast.verify.engine.SimSite;
import io.holdfast.verify.engine.SimTime;
import io.holdfast.verify.engine.Simulation;
import io.holdfast.verify.engine.Weather;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Three or five independent servers, and the real quorum store at each process.
 *
 * <p>What goes wrong with servers, by seed, is one of {@link Harm}. In all, tokens must grow. Exclusion of valid leases
 * is promised in all of the first, and in the second where a majority beside the server whose clock jumped has the
 * hold.
 */
public final class SimQuorumSite implements SimSite {

    /** More than any lease the users ask for. */
    private static final Duration LONGEST_LEASE = Duration.ofMillis(2_200);

    private static final Duration MEMBER_TIMEOUT = Duration.ofMillis(100);

    private final Simulation simulation;
    private final QuorumBug bug;
    private final SplittableRandom random;
    private final List<SimQuorumNode> servers = new ArrayList<>();
    private final List<QuorumLink> links = new ArrayList<>();
    private final Harm harm;

    /** How many of the servers, from the first on, may forget, or have clocks that jump. */
    private final int damaged;

    /** With {@link Harm#CLOCKS}: whether data are lost there, too. */
    private final boolean minorityForgets;

    private final Map<String, Integer> epochs = new HashMap<>();

    /** By name and base: who wrote it first. */
    private final Map<String, String> writers = new HashMap<>();

    /** The members that have voted for an id, until these are a majority, each with the epoch in which it did. */
    private static final class Election {
        final Map<SimQuorumNode, Integer> voters = new HashMap<>();

        /**
         * Whether there was a release by force between two votes: it took the first one away, and the other one's
         * rival.
         */
        boolean isTorn() {
            return new HashSet<>(voters.values()).size() > 1;
        }

        int epoch() {
            return Collections.min(voters.values());
        }
    }

    private final Map<String, Election> elections = new HashMap<>();

    /** By the id of a hold: the servers whose clocks have jumped while it was there. */
    private final Map<String, Set<SimQuorumNode>> jumped = new HashMap<>();

    /** Holds that no majority of unharmed clocks has. */
    private final Set<String> cutShort = new HashSet<>();

    /** What may be harmed. */
    enum Harm {
        /** Any servers forget, wholly or in part, again and again; all clocks are right. */
        DATA,
        /**
         * Clocks of a minority jump, in both directions; and either that minority forgets, or wall clocks of processes
         * are apart and jump. Not both: where a server has forgotten a token, and another that knows it is away, only
         * the wall clocks make the next one larger.
         */
        CLOCKS,
        /** Lock keys vanish all the time, so that nothing but tokens is left to be promised; these are kept. */
        LOCKS
    }

    public SimQuorumSite(Simulation simulation, QuorumBug bug) {
        this.simulation = simulation;
        this.bug = bug;
        random = simulation.random.split();
        int number = random.nextInt(4) == 0 ? 5 : 3;
        for (int i = 0; i < number; i++) {
            Weather weather = simulation.calm ? Weather.fine() : Weather.random(random);
            servers.add(new SimQuorumNode("s" + i, simulation.world, weather));
        }
        harm = Harm.values()[random.nextInt(Harm.values().length)];
        damaged = harm == Harm.DATA ? number : number / 2;
        minorityForgets = harm == Harm.CLOCKS && simulation.seed % 2 == 0;
    }

    /** All lines of one process. */
    private final class QuorumLink implements Link {
        private final List<SimQuorumMember> members = new ArrayList<>();
        private final VerifyQuorum quorum;

        QuorumLink(String processId, SimTime time, SplittableRandom random) {
            for (SimQuorumNode server : servers) {
                SimQuorumMember member = new SimQuorumMember(
                        server, processId, simulation.world, time, random.split(), bug, registers(server));
                server.lines.add(member.line);
                members.add(member);
            }
            SplittableRandom jitter = random.split();
            quorum = new VerifyQuorum(members, time, jitter::nextLong, LONGEST_LEASE, MEMBER_TIMEOUT);
        }

        private SimQuorumMember.Registers registers(SimQuorumNode server) {
            return new SimQuorumMember.Registers() {
                @Override
                public void voted(String name, String id) {
                    Election election = elections.computeIfAbsent(id, i -> new Election());
                    if (election.voters.size() <= servers.size() / 2) {
                        election.voters.put(server, epochs.getOrDefault(name, 0));
                    }
                }

                @Override
                public void written(String name, String id, long token) {
                    writers.putIfAbsent(name + ' ' + token, id);
                }
            };
        }

        @Override
        public LockStore store() {
            return quorum.store();
        }

        @Override
        public boolean isQuiet() {
            return members.stream().allMatch(member -> member.line.isQuiet());
        }

        /** One, or all. */
        @Override
        public void breakConnection() {
            int which = random.nextInt(2 * members.size());
            for (int i = 0; i < members.size(); i++) {
                if (which == i || which >= members.size()) {
                    members.get(i).line.breakConnection();
                }
            }
        }

        @Override
        public void cutOff(long nanos) {
            members.forEach(member -> member.line.cutOff(nanos));
        }

        @Override
        public void die(boolean silently) {
            members.forEach(member -> member.line.die(silently));
        }

        @Override
        public String left() {
            return quorum.left();
        }
    }

    @Override
    public Link connect(String processId, SimTime time, SplittableRandom random) {
        QuorumLink link = new QuorumLink(processId, time, random);
        links.add(link);
        return link;
    }

    // --- what goes wrong ---

    @Override
    public void scheduleFaults(SimFaults faults) {
        faults.repeat(random.nextInt(4), this::crash);
        faults.repeat(random.nextInt(4), this::stop);
        faults.repeat(random.nextInt(4), this::cutOff);
        if (random.nextInt(3) == 0) {
            faults.repeat(3, this::splitTheProcesses);
        }
        switch (harm) {
            case DATA -> faults.repeat(random.nextInt(6), this::forget);
            case CLOCKS -> {
                faults.repeat(random.nextInt(3), minorityForgets ? this::forget : this::crash);
                faults.repeat(1 + random.nextInt(3), () -> stepClock(faults));
            }
            case LOCKS -> faults.repeat(150, () -> vanish(faults));
        }
    }

    private SimQuorumNode any(int ofTheFirst) {
        return servers.get(random.nextInt(ofTheFirst));
    }

    private long upTo(long millis) {
        return (1 + random.nextLong(millis)) * 1_000_000;
    }

    private void crash() {
        SimQuorumNode server = any(servers.size());
        long down = upTo(2_000);
        simulation.recorder.log("%s crashes, for %d ms", server, down / 1_000_000);
        server.crash(down);
    }

    /** Everything, or what was not written yet. */
    private void forget() {
        SimQuorumNode server = any(damaged);
        long down = upTo(random.nextBoolean() ? 50 : 2_000);
        if (random.nextInt(4) == 0) {
            List<String> names = Simulation.NAMES.stream()
                    .filter(name -> random.nextBoolean())
                    .toList();
            simulation.recorder.log("%s crashes and forgets %s, for %d ms", server, names, down / 1_000_000);
            names.forEach(server.node::forget);
            server.crash(down);
        } else {
            simulation.recorder.log("%s crashes and loses its data, for %d ms", server, down / 1_000_000);
            server.crashEmpty(down);
        }
    }

    private void stop() {
        SimQuorumNode server = any(servers.size());
        long length = upTo(random.nextBoolean() ? 200 : 5_000);
        simulation.recorder.log("%s is stopped for %d ms", server, length / 1_000_000);
        server.stop(length);
    }

    private void stepClock(SimFaults faults) {
        if (!minorityForgets && random.nextInt(3) == 0) {
            faults.stepWalls(random);
            return;
        }
        SimQuorumNode server = any(damaged);
        long step = random.nextLong(-10_000, 10_000);
        if (step > 0 && seen(server, Simulation.NAMES.get(0)).standing().quarantineMillis() > 0) {
            // It would end the quarantine: two harms to one server.
            return;
        }
        simulation.recorder.log("the clock of %s jumps by %d ms", server, step);
        for (String name : Simulation.NAMES) {
            if (step > 0 && endsAHold(server, name)) {
                faults.forget(List.of(name));
            }
        }
        server.node.stepClock(Duration.ofMillis(step));
    }

    /** Whether the clock's jump ends, or shortens, a hold that no majority of the others has for as long. */
    private boolean endsAHold(SimQuorumNode server, String name) {
        Seen here = seen(server, name);
        if (here.holder().isEmpty()) {
            return false;
        }
        Set<SimQuorumNode> wrong = jumped.computeIfAbsent(here.holder(), id -> new HashSet<>());
        wrong.add(server);
        long others = servers.stream()
                .filter(other -> !wrong.contains(other))
                .map(other -> seen(other, name))
                .filter(there -> there.holder().equals(here.holder()))
                .filter(there -> there.remainingMillis() >= here.remainingMillis() - 1)
                .count();
        boolean cut = others <= servers.size() / 2;
        if (cut) {
            // Each jump counts: the first one may come before the lease is granted.
            cutShort.add(here.holder());
        }
        return cut;
    }

    private void vanish(SimFaults faults) {
        String name = Simulation.NAMES.get(random.nextInt(Simulation.NAMES.size()));
        List<SimQuorumNode> where =
                servers.stream().filter(server -> random.nextBoolean()).toList();
        simulation.recorder.log("%s vanishes at %s", name, where);
        faults.forget(List.of(name));
        where.forEach(server -> look(server, member -> member.forceRelease(name, null)));
    }

    private void cutOff() {
        QuorumLink link = links.get(random.nextInt(links.size()));
        int which = random.nextInt(servers.size());
        long length = upTo(4_000);
        simulation.recorder.log(
                "%s is cut off from %s for %d ms", link.store(), servers.get(which), length / 1_000_000);
        link.members.get(which).line.cutOff(length);
    }

    /** Each process reaches a majority only, each another one. */
    private void splitTheProcesses() {
        long length = upTo(3_000);
        simulation.recorder.log("each process reaches a majority only, for %d ms", length / 1_000_000);
        for (QuorumLink link : links) {
            List<SimQuorumMember> members = new ArrayList<>(link.members);
            for (int i = 0; i < servers.size() / 2; i++) {
                members.remove(random.nextInt(members.size())).line.cutOff(length);
            }
        }
    }

    @Override
    public void heal() {
        servers.forEach(SimQuorumNode::heal);
    }

    @Override
    public void forceRelease(String name) {
        for (SimQuorumNode server : servers) {
            look(server, member -> member.forceRelease(name, null));
        }
    }

    // --- the truth ---

    private <T> T look(SimQuorumNode server, Function<QuorumMember, CompletionStage<T>> command) {
        try (QuorumMember looking = server.node.connect(new StoreContext("looking", simulation.world))) {
            return command.apply(looking).toCompletableFuture().join();
        }
    }

    private Seen seen(SimQuorumNode server, String name) {
        return look(server, member -> member.inspect(name));
    }

    @Override
    public boolean isHeldBy(String processId) {
        return servers.stream()
                .anyMatch(server -> Simulation.NAMES.stream()
                        .anyMatch(name -> seen(server, name).holder().startsWith(processId + ":")));
    }

    @Override
    public Set<String> used() {
        Set<String> used = new TreeSet<>();
        for (SimQuorumNode server : servers) {
            for (String name : Simulation.NAMES) {
                Seen seen = seen(server, name);
                if (!seen.holder().isEmpty() || seen.waiting() > 0) {
                    used.add(name + " at " + server + " by " + seen.holder() + ", " + seen.waiting() + " wait");
                }
            }
        }
        return used;
    }

    @Override
    public void forget(String name) {
        epochs.merge(name, 1, Integer::sum);
    }

    @Override
    public int epochOf(String name, long base) {
        String id = writers.get(name + ' ' + base);
        Election election = id == null ? null : elections.get(id);
        if (election == null) {
            return -1;
        }
        return harm == Harm.LOCKS || cutShort.contains(id) || election.isTorn()
                ? -2 - (int) (base % 1_000_000)
                : election.epoch();
    }

    // --- figures ---

    /** Three tries of the quorum, with its pauses between them. */
    @Override
    public long attemptNanosMax() {
        return 10 * MEMBER_TIMEOUT.toNanos();
    }

    /** There is no queue: waiting clients may split the votes, and then ask again. */
    @Override
    public long idleNanosMax(Vanished vanished) {
        return 150_000_000 + (vanished != Vanished.NOBODY ? 4 * SimProcess.POLL_MILLIS * 1_000_000 : 0);
    }

    @Override
    public long delayNanosMax() {
        return servers.stream().mapToLong(s -> s.weather.delayNanosMax).max().orElse(1);
    }

    /** Without registers, tokens grow by the clocks of processes: less apart than a server is out after its loss. */
    @Override
    public long wallMillisMax() {
        return harm == Harm.DATA || minorityForgets ? 500 : 5_000;
    }

    @Override
    public String describe() {
        return servers.stream().map(s -> s.weather.toString()).collect(Collectors.joining("; ")) + "; " + harm;
    }
}
