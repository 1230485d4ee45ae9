package io.holdfast.verify.sql;

import io.holdfast.verify.engine.SimFaults;
import io.holdfast.verify.engine.SimProcess;
import io.holdfast.verify.engine.SimSite;
import io.holdfast.verify.engine.SimTime;
import io.holdfast.verify.engine.Simulation;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/** One database with a standby behind it, and the real store at each process. */
public final class SimSqlSite implements SimSite {

    /** What a history has more of than others. Some faults of a statement show only where several rare events meet. */
    enum Season {
        MIXED,
        /** Rows are purged and made again all the time. */
        PURGES,
        /** Commits are cancelled, and a standby that has not confirmed them takes over while a client stands still. */
        TAKEOVERS,
        /** Statements take long, so commands of one client overtake each other. */
        SLOW,
        /** A pooler is between: no client hears of a takeover by a standby whose clock is ahead. */
        POOLER
    }

    private static final long MESSAGE_IDLE_NANOS = 60_000_000;

    /** The first waiter looks after 30 ms at most, a later one after a second at most; and a look takes two messages. */
    private static final long WATCH_IDLE_NANOS = 1_300_000_000;

    /** By how much the clock of a standby may be ahead behind a pooler: less than an entry lives. */
    private static final long AHEAD_MICROS = 500_000;

    private final Simulation simulation;
    private final SplittableRandom random;
    private final SimTroubles troubles;
    private final SimDatabase database;
    private final SimFibers fibers = new SimFibers();
    private final List<SimSqlClient> clients = new ArrayList<>();
    private final boolean notifies;

    private final Season season;

    public SimSqlSite(Simulation simulation, SqlBug bug) {
        this(simulation, bug, null, simulation.calm);
    }

    /**
     * @param chosen the season of a rough history; null for any
     * @param calm whether the network is fast and loses nothing
     */
    SimSqlSite(Simulation simulation, SqlBug bug, @Nullable Season chosen, boolean calm) {
        this.simulation = simulation;
        random = simulation.random.split();
        troubles = new SimTroubles(random, calm);
        Season drawn = Season.values()[random.nextInt(Season.values().length)];
        season = chosen != null ? chosen : simulation.calm ? Season.MIXED : drawn;
        boolean plain = random.nextInt(3) == 0;
        notifies = season != Season.POOLER && !plain && random.nextInt(4) != 0;
        database = new SimDatabase(simulation, random.split(), troubles, plain, season == Season.POOLER, bug);
        if (season == Season.PURGES) {
            database.purgeOften();
            troubles.duplicateOften();
        } else if (season == Season.SLOW) {
            troubles.slowDown();
        }
    }

    @Override
    public Link connect(String processId, SimTime time, SplittableRandom draws) {
        SimSqlClient client = new SimSqlClient(database, fibers, processId, time, draws, notifies);
        clients.add(client);
        return client;
    }

    @Override
    public void end() {
        fibers.end();
    }

    // --- what goes wrong ---

    @Override
    public void scheduleFaults(SimFaults faults) {
        faults.repeat(random.nextInt(3), this::stop);
        if (season == Season.PURGES) {
            return;
        }
        if (season == Season.TAKEOVERS || season == Season.POOLER) {
            faults.repeat(2 + random.nextInt(5), () -> failOverWithoutLoss(faults));
            return;
        }
        // What a base promises: it grows as long as the clock does not go back by more than an outage lasted.
        if (random.nextInt(4) == 0) {
            database.oldMicros = 10_000_000;
            faults.at(() -> stepClocks(faults));
            return;
        }
        faults.repeat(random.nextInt(3), this::crash);
        switch (random.nextInt(4)) {
            case 0 -> faults.at(() -> failOver(faults));
            case 1, 2 -> faults.repeat(1 + random.nextInt(3), () -> failOverWithoutLoss(faults));
            default -> {}
        }
        if (random.nextInt(8) == 0) {
            faults.at(() -> deleteRows(faults));
        }
    }

    private void stop() {
        int length = random.nextInt(6);
        long nanos = (1 + random.nextLong(length == 0 ? 15_000 : length < 3 ? 3_000 : 200)) * 1_000_000;
        simulation.recorder.log("the server is stopped for %d ms", nanos / 1_000_000);
        database.stop(nanos);
    }

    private void stepClocks(SimFaults faults) {
        if (random.nextBoolean()) {
            faults.stepWalls(random);
            return;
        }
        long step = random.nextLong(-3_000, 3_000);
        simulation.recorder.log("the server's clock jumps by %d ms", step);
        if (step > 0) {
            faults.forget(simulation.names());
        }
        database.stepClock(step * 1_000);
    }

    private void crash() {
        long down = random.nextLong(10, 2_000) * 1_000_000;
        simulation.recorder.log("the server crashes, for %d ms", down / 1_000_000);
        database.crash(down);
        ended();
    }

    private void failOver(SimFaults faults) {
        long down = random.nextLong(50, 2_000) * 1_000_000;
        long step = random.nextLong(-down, down) / 1_000;
        long lag = random.nextLong(1_000) * 1_000_000;
        simulation.recorder.log("a standby %d ms behind takes over, after %d ms", lag / 1_000_000, down / 1_000_000);
        faults.forget(simulation.names());
        database.failOver(lag, down, step);
        ended();
    }

    /** The standby is away, and commits wait for it; then it is back, or it takes over what it has confirmed. */
    private void failOverWithoutLoss(SimFaults faults) {
        // In its season for longer than a lease: then the holds of before are over when it takes over.
        long away = random.nextLong(10, season == Season.TAKEOVERS ? 3_000 : 1_500) * 1_000_000;
        boolean often = season == Season.TAKEOVERS || season == Season.POOLER;
        boolean cancelled = often || random.nextInt(3) != 0;
        boolean takesOver = often || random.nextInt(3) != 0;
        simulation.recorder.log("the synchronous standby is away for %d ms", away / 1_000_000);
        database.loseStandby(away, cancelled);
        simulation.world.schedule(away - 1_000_000, () -> {
            if (takesOver && !database.isDown()) {
                takeOver(faults);
            }
        });
    }

    private void takeOver(SimFaults faults) {
        long down = random.nextLong(1, season == Season.POOLER || random.nextBoolean() ? 50 : 1_500) * 1_000_000;
        long step = season == Season.TAKEOVERS ? 0 : random.nextLong(-down, down) / 1_000;
        if (season == Season.POOLER) {
            // Nobody hears of it. So a waiter goes on with an entry that another clock has stamped.
            step = random.nextLong(-down / 1_000, AHEAD_MICROS);
            simulation.world.schedule(random.nextLong(AHEAD_MICROS) * 1_000, faults::pauseHolder);
        } else if (season == Season.TAKEOVERS) {
            // Otherwise a client that has heard of the takeover asks for its holds at once.
            faults.pauseHolder();
        }
        simulation.recorder.log("the synchronous standby takes over, after %d ms", down / 1_000_000);
        if (step > 0) {
            faults.forget(simulation.names());
        }
        database.failOverWithoutLoss(down, step);
        ended();
    }

    private void deleteRows(SimFaults faults) {
        List<String> names = simulation.names();
        String name = names.get(random.nextInt(names.size()));
        simulation.recorder.log("the row of %s is deleted by hand", name);
        faults.forget(List.of(name));
        database.deleteRows(name);
    }

    /** A standby that has all commits takes over at once; its clock is ahead. */
    void switchOver(long aheadMicros) {
        database.failOverWithoutLoss(1_000_000, aheadMicros);
        ended();
    }

    private void ended() {
        if (season != Season.POOLER) {
            clients.forEach(SimSqlClient::serverEnded);
        }
    }

    /** What is sent from now on comes late. */
    void slowDown() {
        troubles.slowDown();
    }

    /** Each statement takes steps, between which others take theirs. */
    void takeTurns() {
        troubles.takeTurns();
    }

    /** Half of the statements are executed a second time soon. */
    void executeTwice() {
        troubles.executeTwice();
    }

    @Override
    public void heal() {
        troubles.becomeFine();
    }

    @Override
    public void forceRelease(String name) {
        database.forceRelease(name);
    }

    // --- the truth ---

    @Override
    public boolean isHeldBy(String processId) {
        return database.holders().stream().anyMatch(holder -> holder.startsWith(processId + ":"));
    }

    /** In a calm history without messages, who was granted permits first may notice it last. */
    @Override
    public boolean hasPools() {
        return notifies || !simulation.calm;
    }

    @Override
    public void forget(String name) {
        database.forget(name);
    }

    @Override
    public int epochOf(String name, long base) {
        return database.epochOf(name, base);
    }

    @Override
    public Set<String> used() {
        return database.used();
    }

    // --- figures ---

    /** A wait for a connection, and up to ten statements that may take as long as the driver waits for each. */
    @Override
    public long attemptNanosMax() {
        return 30_000_000_000L;
    }

    @Override
    public long idleNanosMax(Vanished vanished) {
        // The server does not know who listens, so it is no help that it notices an end.
        boolean nobody = vanished == Vanished.NOBODY && clients.stream().noneMatch(SimSqlClient::hasDied);
        int polls = nobody ? 0 : 7;
        return (notifies ? MESSAGE_IDLE_NANOS : WATCH_IDLE_NANOS) + polls * SimProcess.POLL_MILLIS * 1_000_000;
    }

    @Override
    public long delayNanosMax() {
        return troubles.delayNanosMax;
    }

    @Override
    public long wallMillisMax() {
        return 0;
    }

    @Override
    public String describe() {
        return troubles
                + (database.plain ? ", one row a name" : "")
                + (notifies ? ", with messages" : "")
                + (season == Season.POOLER ? ", behind a pooler" : "");
    }
}
