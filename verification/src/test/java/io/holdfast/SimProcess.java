package io.holdfast;

import io.holdfast.memory.VirtualTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;

/** One simulated process: a client with the real engine, on a clock of its own, behind a network. */
final class SimProcess {

    static final long LEASE_MILLIS = 2_000;
    static final long POLL_MILLIS = 200;

    final String id;
    private final VirtualTime world;
    final SimTime time;
    final SimSite.Link link;
    final LockClient client;

    /** Threads that own what they lock. */
    final List<SimOwner> owners = new ArrayList<>();

    final Set<Thread> deadThreads = new HashSet<>();

    /** One that never locks. */
    final Thread stranger;

    int waiting;

    /** How many of them wait for a lease that is shorter than the longest first lease of a granted client. */
    private int waitingBriefly;

    private long waitedBrieflyNanos = Long.MIN_VALUE / 2;

    boolean closed;

    /** How long it has been paused in all. */
    long pausedNanos;

    SimProcess(String id, VirtualTime world, SimSite site, SplittableRandom random, LeaseRules rules) {
        this.id = id;
        this.world = world;
        stranger = new Thread(() -> {}, id + "-stranger");
        double rate = 1 + (random.nextDouble() - 0.5) / 125;
        long wallMax = site.wallMillisMax();
        time = new SimTime(world, rate, wallMax == 0 ? 0 : random.nextLong(-wallMax, wallMax));
        link = site.connect(id, time, random.split());
        SplittableRandom jitter = random.split();
        client = LockClient.builder()
                .store(link.store())
                .timeSource(time)
                .leaseTime(Duration.ofMillis(LEASE_MILLIS))
                .callbackExecutor(task -> time.schedule(0, task))
                .settings(settings -> {
                    settings.clientId = site.clientId(id);
                    settings.random = jitter::nextLong;
                    settings.freshBits = jitter::nextLong;
                    settings.rules = rules;
                    settings.isAlive = thread -> !deadThreads.contains(thread);
                    settings.pollNanos = POLL_MILLIS * 1_000_000;
                })
                .build();
    }

    void waits(boolean briefly) {
        waiting++;
        waitingBriefly += briefly ? 1 : 0;
    }

    void waitsNoLonger(boolean briefly) {
        waiting--;
        if (briefly) {
            waitingBriefly--;
            waitedBrieflyNanos = world.nanoTime();
        }
    }

    /** Whether the servers may know, by its polls, that it waits for such a short lease. */
    boolean isTakenForBrief() {
        return waitingBriefly > 0 || world.nanoTime() - waitedBrieflyNanos < 3 * POLL_MILLIS * 1_000_000;
    }

    boolean isAlive() {
        return !time.isDead();
    }

    /** Nothing may be left when nobody holds or waits. */
    String left() {
        Engine engine = client.engine();
        if (engine.size() == 0
                && engine.renewals.size() == 0
                && engine.compensation.pending() == 0) {
            return link.left();
        }
        return engine.size() + " names, " + engine.renewals.size() + " holds, "
                + engine.compensation.pending() + " compensations";
    }
}
