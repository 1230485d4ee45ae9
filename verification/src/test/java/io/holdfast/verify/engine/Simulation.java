package io.holdfast.verify.engine;

import static java.util.Objects.requireNonNull;

import io.holdfast.LeaderBug;
import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.MultiLease;
import io.holdfast.engine.PoolBug;
import io.holdfast.engine.VerifyEngine;
import io.holdfast.engine.VerifyEngine.OwnedLock;
import io.holdfast.engine.VerifyEngine.Rules;
import io.holdfast.engine.VerifyEngine.WaitingThread;
import io.holdfast.history.Event.Kind;
import io.holdfast.history.Findings;
import io.holdfast.history.HistoryChecker;
import io.holdfast.memory.VirtualTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.CompletionStage;
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

    /**
     * How long locks are asked for, and how long it takes for all that goes wrong to have gone wrong. {@code -Dbusy=N}
     * makes it shorter: then as much happens in less time, and a history costs less.
     */
    static final Duration BUSY_TIME = Duration.ofSeconds(Long.getLong("busy", 30));

    private static final int USERS = 3;
    private static final Duration QUIET_TIME = Duration.ofSeconds(30);

    /** Some twenty times what a busy history takes. */
    private static final int EVENTS_MAX = 500_000;

    /** Who asks for locks in a process: for stages, as a thread, or as a thread that owns what it locks. */
    record User(
            SimProcess process, boolean thread, @Nullable SimOwner owner) {}

    public final long seed;
    public final SplittableRandom random;
    public final VirtualTime world = new VirtualTime();
    public final SimRecorder recorder = new SimRecorder(world);
    final SimSite site;
    public final List<SimProcess> processes = new ArrayList<>();
    public final SimChecks checks;

    /** A history in which a lock must not stay free while somebody waits. */
    public final boolean calm;

    /** Those that wait. */
    final List<SimThread> threads = new ArrayList<>();

    /** Decides about threads that own, apart from all else. */
    final SplittableRandom owners;

    /** How often a lock was entered again, kept from another thread, and found lost by an unlock. */
    long nested;

    long refusedOthers;
    long toldOfLoss;

    /** How often the store confirmed another time of a lease. */
    long extended;

    private final Rules rules;
    private final ReentryBug reentryBug;

    /** Whether the threads of this history own what they lock, and lock it again. */
    private final boolean reentrant;

    /** Decides about groups of names, apart from all else. */
    private final SplittableRandom groups;

    /** Decides which leases are extended, apart from all else. */
    private final SplittableRandom extensions;

    /** Decides about leaderships, apart from all else. */
    final SplittableRandom candidacies;

    /** Whether processes of this history stand for a leadership. */
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

    /** Whether leases of this history are extended. */
    private final boolean extending;

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
        this.reentryBug = reentryBug;
        this.leaderBug = leaderBug;
        this.poolBug = poolBug;
        random = new SplittableRandom(seed);
        groups = new SplittableRandom(~seed);
        owners = new SplittableRandom(Long.reverse(seed));
        extensions = new SplittableRandom(~Long.reverse(seed));
        extending = extensions.nextInt(2) == 0;
        reentrant = owners.nextInt(2) == 0;
        candidacies = new SplittableRandom(Long.reverse(~seed));
        electing = candidacies.nextInt(4) == 0;
        calm = random.nextInt(4) == 0;
        checks = new SimChecks(this);
        pools = new SplittableRandom(seed ^ 0x7065726D6974L);
        site = maker.apply(this);
        permits = new SimPermits(this);
        pooling = pools.nextInt(2) == 0 && site.hasPools();
        SplittableRandom shares = new SplittableRandom(~seed ^ 0x72656164L);
        readers = new SimReaders(this, shares);
        reading = !pooling && site.hasPools() && shares.nextInt(2) == 0;
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
        runUntil(world.nanoTime() + BUSY_TIME.toNanos());
        quiet = true;
        candidates.forEach(SimCandidate::close);
        site.heal();
        recorder.log("the network heals; nobody asks for locks any more");
        runUntil(world.nanoTime() + QUIET_TIME.toNanos());
        // Rarely, so many wait for each other that they are not through by then. Nobody works for longer than this.
        for (int i = 0; i < USERS * PROCESSES && checks.isInUse(); i++) {
            runUntil(world.nanoTime() + 3 * SimProcess.LEASE_MILLIS * 1_000_000);
        }
        return checks.atTheEnd();
    }

    List<String> timeline() {
        return recorder.timeline();
    }

    void addProcess() {
        SimProcess process = new SimProcess("p" + processes.size(), world, site, random.split(), rules, poolBug);
        processes.add(process);
        // Two of one process take turns.
        for (int i = electing ? candidacies.nextInt(3) : 0; i > 0; i--) {
            candidates.add(new SimCandidate(this, process));
        }
        if (pooling) {
            permits.addUsers(process);
        }
        if (reading) {
            readers.addUsers(process);
        }
        for (int i = 0; i < USERS; i++) {
            boolean thread = random.nextInt(3) == 0;
            if (thread && reentrant) {
                addOwner(process);
            } else {
                think(new User(process, thread, null));
            }
        }
    }

    void addOwner(SimProcess process) {
        think(new User(process, true, new SimOwner(this, process)));
    }

    OwnedLock lock(LockClient client, String name) {
        return reentryBug.lock(client, name);
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

    private void think(User user) {
        think(random, user.process, () -> ask(user));
    }

    private void ask(User user) {
        // Not in a calm history: a user that waits for the second name keeps the first one without using it.
        if (!calm && !user.thread && groups.nextInt(8) == 0) {
            askTogether(user);
            return;
        }
        String name = NAMES.get(random.nextInt(NAMES.size()));
        Use use = ask(user, name, randomOptions(), () -> think(user));
        SimProcess process = user.process;
        if (user.owner != null) {
            user.owner.lock(use);
            givesUp(process, user.owner::interrupt);
        } else if (user.thread) {
            WaitingThread waiter = VerifyEngine.submit(process.client, name, use.options);
            givesUp(process, new SimThread(this, process, waiter, use::outcome)::interrupt);
        } else {
            CompletionStage<Lease> stage = process.client.acquireAsync(name, use.options);
            givesUp(process, () -> stage.toCompletableFuture().cancel(false));
            stage.whenComplete((lease, error) -> use.outcome(lease, error));
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

    /** @param then what the user does after it */
    Use ask(User user, String name, LockOptions options, Runnable then) {
        Use use = new Use(user, nextOperation(user.process), name, options, then);
        recorder.log("%s: wants %s, %s%s", use.who, name, options, user.thread ? ", by a thread" : "");
        recorder.asked(use.who, name, options, user.owner == null ? "" : user.owner.name(), use.isExtended);
        return use;
    }

    /** Two names, all or none: each counts as a use of its own that waits until both are there. */
    private void askTogether(User user) {
        int first = groups.nextInt(NAMES.size());
        List<String> names = List.of(NAMES.get(first), NAMES.get((first + 1) % NAMES.size()));
        LockOptions some = randomOptions();
        // One attempt may be two, one for each name, where one of them is in use here.
        LockOptions options =
                some.waitAtMost().filter(Duration::isZero).isPresent() ? some.waitAtMost(Duration.ofSeconds(1)) : some;
        List<Use> uses = new ArrayList<>();
        for (String name : names) {
            // One of them continues after it.
            Runnable then = uses.isEmpty() ? () -> think(user) : () -> {};
            uses.add(ask(user, name, options, then));
        }
        recorder.log("%s: these together", uses.get(0).who);
        CompletionStage<MultiLease> stage = user.process.client.acquireAllAsync(names, options);
        givesUp(user.process, () -> stage.toCompletableFuture().cancel(false));
        stage.whenComplete((leases, error) -> {
            for (Use use : uses) {
                use.outcome(leases == null ? null : leases.lease(use.name), error);
            }
        });
    }

    /** Some are interrupted, or cancel: before, between or after the messages that matter to them. */
    private void givesUp(SimProcess process, Runnable how) {
        givesUp(random, process, how);
    }

    void givesUp(SplittableRandom random, SimProcess process, Runnable how) {
        int when = random.nextInt(12);
        if (when == 0) {
            process.time.schedule(random.nextLong(500) * 1_000_000, how);
        } else if (when == 1) {
            process.time.schedule(random.nextLong(site.delayNanosMax() * 4), how);
        }
    }

    private LockOptions randomOptions() {
        return randomOptions(random);
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

    /** One use of a lock, from the asking to the release. */
    final class Use {
        final User user;
        final String who;
        final String name;
        final LockOptions options;
        private final SimProcess process;
        private final Runnable then;
        private final boolean isExtended;
        private final long began = world.nanoTime();
        private final long pausedBefore;

        private Use(User user, String who, String name, LockOptions options, Runnable then) {
            this.user = user;
            this.process = user.process;
            this.who = who;
            this.name = name;
            this.options = options;
            this.then = then;
            this.isExtended = extending && user.owner == null && extensions.nextInt(2) == 0;
            this.pausedBefore = process.pausedNanos;
            process.waits(isBrief());
        }

        private boolean isBrief() {
            return Simulation.isBrief(options);
        }

        void outcome(@Nullable Lease acquired, @Nullable Throwable error) {
            process.waitsNoLonger(isBrief());
            checks.waited(process, who, options, world.nanoTime() - began - (process.pausedNanos - pausedBefore));
            if (acquired == null) {
                recorder.refused(who, requireNonNull(error));
                goOn();
                return;
            }
            Lease lease = VerifyEngine.active(acquired);
            recorder.log("%s: has %s, token %d", who, name, lease.fencingToken());
            recorder.event(Kind.GRANTED, who, "token", lease.fencingToken());
            checks.granted(process, who, lease);
            lease.onLost(() -> {
                recorder.log("%s: lost %s, token %d", who, name, lease.fencingToken());
                checks.ended(lease);
                recorder.event(Kind.LOST, who);
            });
            work(acquired, lease);
        }

        /** The timer refers to what the user has, so no collection of garbage decides what happens next. */
        private void work(Lease acquired, Lease lease) {
            long register = recorder.read(who, name, lease.fencingToken());
            long counter = recorder.readCounter(name);
            long length = random.nextInt(5) == 0 ? random.nextLong(3 * SimProcess.LEASE_MILLIS) : random.nextLong(100);
            // Without a look at the lease, and not waited for: the resource is at the end of a network, too.
            Runnable write = () -> travel(() -> {
                if (register >= 0) {
                    recorder.write(who, name, lease.fencingToken(), register + 1);
                }
                recorder.writeCounter(who, name, counter + 1);
            });
            if (user.owner != null) {
                user.owner.work(this, lease, length, write);
                return;
            }
            process.time.schedule(length * 1_000_000, () -> {
                write.run();
                release(acquired, lease);
            });
            for (int i = isExtended ? 1 + extensions.nextInt(3) : 0; i > 0; i--) {
                long at = extensions.nextLong(length * 1_000_000 + 1);
                Duration time = Duration.ofMillis(100 + extensions.nextLong(SimProcess.LEASE_MILLIS - 100));
                process.time.schedule(at, () -> extend(acquired, time));
            }
        }

        private void extend(Lease acquired, Duration time) {
            recorder.log("%s: extends %s to %s", who, name, time);
            acquired.extendAsync(time).whenComplete((nothing, error) -> {
                recorder.log("%s: extended %s to %s: %s", who, name, time, error == null ? "confirmed" : error);
                extended += error == null ? 1 : 0;
            });
        }

        private void travel(Runnable write) {
            if (random.nextInt(4) == 0) {
                world.schedule(random.nextLong(site.delayNanosMax()), write);
            } else {
                write.run();
            }
        }

        void goOn() {
            then.run();
        }

        private void release(Lease acquired, Lease lease) {
            recorder.log("%s: releases %s, token %d", who, name, lease.fencingToken());
            checks.ended(lease);
            recorder.event(Kind.RELEASE, who);
            acquired.releaseAsync().whenComplete((nothing, lost) -> {
                recorder.event(lost == null ? Kind.RELEASED : Kind.LOST, who);
                goOn();
            });
        }
    }
}
