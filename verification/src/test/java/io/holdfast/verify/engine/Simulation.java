package io.holdfast.verify.engine;

import static java.util.Objects.requireNonNull;

import io.holdfast.LeaderBug;
import io.holdfast.LockOptions;
import io.holdfast.engine.PoolBug;
import io.holdfast.engine.VerifyEngine.Rules;
import io.holdfast.history.Findings;
import io.holdfast.history.HistoryChecker;
import io.holdfast.memory.VirtualTime;
import io.holdfast.verify.engine.SimPlan.Kind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One history: five processes with the real engine use three locks for half a minute of virtual time, while
 * {@linkplain SimFaults much goes wrong}. Everything is decided by the seed, so a history can be played again.
 *
 * <p>Every fourth history is a quiet one: a fast network that loses nothing, and no faults but waiters that leave or
 * die. There a lock must never stay free for long while somebody waits.
 *
 * <p>Checked by {@link SimChecks} after every event, and by {@link HistoryChecker} at the end.
 */
public final class Simulation {

    static final int PROCESSES = 5;
    public static final List<String> NAMES = List.of("a", "b", "c");

    /** What the servers call the pool of the permits. */
    public static final String POOL = "p:d";

    /** What the servers call the pool of a read-write lock. */
    public static final String READ_WRITE = "rw:d";

    private static final Duration QUIET_TIME = Duration.ofSeconds(30);

    /** Longer than messages are late, and than anybody works: even one whose lease was lost. */
    private static final Duration LATE_TIME = Duration.ofMillis(3 * SimProcess.LEASE_MILLIS);

    /** Some twenty times what a busy history takes. */
    private static final int EVENTS_MAX = 500_000;

    public final long seed;
    public final SplittableRandom random;
    public final VirtualTime world = new VirtualTime();
    public final SimRecorder recorder = new SimRecorder(world);
    final SimSite site;
    public final List<SimProcess> processes = new ArrayList<>();
    public final SimChecks checks;

    /** A history in which a lock must not stay free while somebody waits. */
    public final boolean calm;

    /** A calm history in which the server tells no reader that a writer waits, as if that message were lost. */
    public final boolean hidesWriters;

    /** Those that wait. */
    final List<SimThread> threads = new ArrayList<>();

    private final Rules rules;
    final SimLocks locks;

    /** Whether the processes of this history use locks. */
    private final boolean locking;

    /** Decides about leaderships, apart from all else. */
    final SplittableRandom candidacies;

    /** Whether processes of this history campaign for a leadership. */
    private final boolean electing;

    final List<SimCandidate> candidates = new ArrayList<>();

    final LeaderBug leaderBug;

    /** The token of the last election. */
    long lastTerm;

    /** How often a candidate was elected. */
    long terms;

    /** Decides about permits, apart from all else. */
    final SplittableRandom pools;

    public final PoolBug poolBug;

    /** Those that ask for permits; none where the stores have none. */
    private final SimPermits permits;

    /** Whether the processes of this history use permits. */
    final boolean pooling;

    private final SimReaders readers;

    /** Whether they use a read-write lock. */
    final boolean reading;

    private @Nullable SimFaults faults;

    private boolean quiet;
    private long operations;

    /** The first violation: it may have been found inside a stage, which keeps what is thrown there to itself. */
    private @Nullable AssertionError found;

    /** @param maker makes the servers; may use what this simulation has except its site */
    public Simulation(long seed, Rules rules, Function<Simulation, SimSite> maker) {
        this(seed, rules, ReentryBug.NONE, LeaderBug.NONE, PoolBug.NONE, maker);
    }

    public Simulation(
            long seed,
            Rules rules,
            ReentryBug reentryBug,
            LeaderBug leaderBug,
            PoolBug poolBug,
            Function<Simulation, SimSite> maker) {
        this.seed = seed;
        this.rules = rules;
        this.leaderBug = leaderBug;
        this.poolBug = poolBug;
        random = new SplittableRandom(seed);
        candidacies = new SplittableRandom(Long.reverse(~seed));
        boolean elects = candidacies.nextInt(4) == 0;
        calm = random.nextInt(4) == 0;
        hidesWriters = calm && new SplittableRandom(~seed ^ 0x68696465L).nextInt(3) == 0;
        checks = new SimChecks(this);
        pools = new SplittableRandom(seed ^ 0x7065726D6974L);
        site = maker.apply(this);
        locks = new SimLocks(this, reentryBug);
        permits = new SimPermits(this);
        SplittableRandom shares = new SplittableRandom(~seed ^ 0x72656164L);
        readers = new SimReaders(this, shares);
        boolean hasPools = site.hasPools();
        boolean pools = this.pools.nextInt(2) == 0;
        locking = SimPlan.has(Kind.LOCKS, seed, hasPools, true);
        electing = SimPlan.has(Kind.LEADERS, seed, hasPools, elects);
        pooling = SimPlan.has(Kind.PERMITS, seed, hasPools, hasPools && pools);
        reading = SimPlan.has(Kind.READERS, seed, hasPools, hasPools && !pools && shares.nextInt(2) == 0);
    }

    /** What the servers may forget. */
    public List<String> names() {
        return pooling ? List.of("a", "b", "c", POOL) : reading ? List.of("a", "b", "c", READ_WRITE) : NAMES;
    }

    /** Whether what the servers call so is a pool. */
    public static boolean isPool(String name) {
        return name.equals(POOL) || name.equals(READ_WRITE);
    }

    /** What users call the read-write lock. */
    String readWrite() {
        return READ_WRITE.substring(READ_WRITE.indexOf(':') + 1);
    }

    long reads() {
        return readers.reads();
    }

    long writes() {
        return readers.writes();
    }

    Findings run() {
        try {
            return play();
        } finally {
            candidates.forEach(SimCandidate::end);
            site.end();
        }
    }

    private Findings play() {
        recorder.log("%s, %s", calm ? "calm" : "rough", site.describe());
        for (int i = 0; i < PROCESSES; i++) {
            addProcess();
        }
        faults = new SimFaults(this);
        faults.schedule();
        if (pooling) {
            permits.scheduleFaults(faults);
        }
        if (reading) {
            readers.scheduleFaults(faults);
        }
        runUntil(world.nanoTime() + SimPlan.BUSY_TIME.toNanos());
        quiet = true;
        candidates.forEach(SimCandidate::close);
        site.heal();
        recorder.log("the network heals; nobody asks for locks any more");
        rest();
        // Rarely, so many wait for each other that they are not through by then. Nobody works for longer than this.
        for (int i = 0; i < SimLocks.USERS * PROCESSES && checks.isInUse(); i++) {
            runUntil(world.nanoTime() + 3 * SimProcess.LEASE_MILLIS * 1_000_000);
        }
        return checks.atTheEnd();
    }

    /** Ends before its time once nothing is left, and nothing late can come any more. */
    private void rest() {
        long began = world.nanoTime();
        runUntil(began + LATE_TIME.toNanos());
        while (world.nanoTime() < began + QUIET_TIME.toNanos() && !checks.isAtRest()) {
            runUntil(world.nanoTime() + 1_000_000_000);
        }
    }

    List<String> timeline() {
        return recorder.timeline();
    }

    /** Adds a process without users. */
    public SimProcess addIdleProcess() {
        SimProcess process = new SimProcess("p" + processes.size(), world, site, random.split(), rules, poolBug);
        processes.add(process);
        return process;
    }

    void addProcess() {
        SimProcess process = addIdleProcess();
        // Two of one process take turns.
        int most = locking ? 2 : 1;
        for (int i = electing ? 2 - most + candidacies.nextInt(most + 1) : 0; i > 0; i--) {
            candidates.add(new SimCandidate(this, process));
        }
        if (pooling) {
            permits.addUsers(process);
        }
        if (reading) {
            readers.addUsers(process);
        }
        if (locking) {
            locks.addUsers(process);
        }
    }

    /** The next event, the turns of the threads that it woke, and the checks. */
    public void next() {
        try {
            world.runNext();
        } catch (AssertionError e) {
            throw violation(String.valueOf(e.getMessage()));
        }
        for (int i = 0; i < threads.size(); i++) {
            threads.get(i).wakeIfRunnable();
        }
        checks.afterEachEvent();
        candidates.forEach(SimCandidate::look);
        SimCandidate.checkApart(candidates);
        if (found != null) {
            throw found;
        }
    }

    private void runUntil(long endNanos) {
        boolean[] over = new boolean[1];
        world.schedule(endNanos - world.nanoTime(), () -> over[0] = true);
        for (int events = 0; !over[0]; events++) {
            if (events > EVENTS_MAX) {
                throw violation("a storm: more than " + EVENTS_MAX + " events");
            }
            next();
        }
    }

    AssertionError violation(String what) {
        if (found != null) {
            return found;
        }
        recorder.log("VIOLATION: %s", what);
        List<String> timeline = recorder.timeline();
        int from = Math.max(0, timeline.size() - 60);
        found = new AssertionError("seed " + seed + ": " + what + "\nplay it again with -Dseed=" + seed + "\n"
                + String.join("\n", timeline.subList(from, timeline.size())));
        return found;
    }

    // --- what the users do ---

    SimFaults faults() {
        return requireNonNull(faults);
    }

    /** Whether locks are still asked for there. */
    boolean isBusy(SimProcess process) {
        return !quiet && !process.closed;
    }

    /** Lets somebody of a process ask after a while, if locks are still asked for there then. */
    void think(SplittableRandom draws, SimProcess process, Runnable ask) {
        if (isBusy(process)) {
            process.time.schedule(draws.nextLong(800) * 1_000_000, () -> {
                if (isBusy(process)) {
                    ask.run();
                }
            });
        }
    }

    String nextOperation(SimProcess process) {
        return process.id + "/" + operations++;
    }

    long permitsGranted() {
        return permits.granted();
    }

    /** Whether so many of one process ask for permits that they wait for each other there, in their own order. */
    boolean hasHerd() {
        return permits.hasHerd();
    }

    /** Some are interrupted, or cancel: before, between or after the messages that matter to them. */
    void givesUp(SplittableRandom random, SimProcess process, Runnable how) {
        int when = random.nextInt(12);
        if (when == 0) {
            process.time.schedule(random.nextLong(500) * 1_000_000, how);
        } else if (when == 1) {
            process.time.schedule(random.nextLong(site.delayNanosMax() * 4), how);
        }
    }

    static LockOptions randomOptions(SplittableRandom random) {
        LockOptions options = LockOptions.defaults();
        if (random.nextInt(3) == 0) {
            options = options.waitAtMost(Duration.ofMillis(random.nextInt(4) == 0 ? 0 : random.nextLong(5_000)));
        }
        return switch (random.nextInt(5)) {
            case 0 -> options.leaseFor(Duration.ofMillis(100 + random.nextLong(2_000)));
            case 1 -> options.holdAtMost(Duration.ofMillis(100 + random.nextLong(5_000)));
            default -> options;
        };
    }

    /** Whether it asks for a lease that is shorter than what the server gives a granted client first. */
    static boolean isBrief(LockOptions options) {
        Optional<Duration> length = options.leaseFor().or(options::holdAtMost);
        return length.isPresent() && length.get().toMillis() < 3 * SimProcess.POLL_MILLIS;
    }
}
