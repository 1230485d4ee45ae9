package io.holdfast.verify.engine;

import io.holdfast.LockClient;
import io.holdfast.engine.PoolBug;
import io.holdfast.engine.VerifyEngine;
import io.holdfast.memory.VirtualTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;

/** One simulated process: a client with the real engine, on a clock of its own, behind a network. */
public final class SimProcess {

    static final long LEASE_MILLIS = 2_000;
    public static final long POLL_MILLIS = 200;

    public final String id;
    private final VirtualTime world;
    public final SimTime time;
    public final SimSite.Link link;
    public final LockClient client;

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
    public long pausedNanos;

    SimProcess(
            String id,
            VirtualTime world,
            SimSite site,
            SplittableRandom random,
            VerifyEngine.Rules rules,
            PoolBug poolBug) {
        this.id = id;
        this.world = world;
        stranger = new Thread(() -> {}, id + "-stranger");
        double rate = 1 + (random.nextDouble() - 0.5) / 125;
        long wallMax = site.wallMillisMax();
        time = new SimTime(world, rate, wallMax == 0 ? 0 : random.nextLong(-wallMax, wallMax));
        link = site.connect(id, time, random.split());
        SplittableRandom jitter = random.split();
        LockClient.Builder builder = LockClient.builder()
                .store(link.store())
                .timeSource(time)
                .leaseTime(Duration.ofMillis(LEASE_MILLIS))
                .callbackExecutor(task -> time.schedule(0, task));
        client = VerifyEngine.open(
                builder,
                site.clientId(id),
                jitter,
                rules,
                poolBug,
                thread -> !deadThreads.contains(thread),
                POLL_MILLIS * 1_000_000);
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
        String left = VerifyEngine.left(client);
        return left.isEmpty() ? link.left() : left;
    }
}
