package io.holdfast;

import io.holdfast.memory.MemoryLockStore;
import io.holdfast.memory.VirtualTime;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreContext;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletionStage;

/**
 * One history: five processes with the real engine use three locks over a bad network for a minute of virtual time,
 * while processes are paused, killed and see their wall clock jump. Everything is decided by the seed, so a history can
 * be played again.
 *
 * <p>Checked after every event: no two valid leases on one name, and none valid again after its time had passed. At every grant: a larger token than any before. At the
 * end, after the network has healed: every waiter of a living process had exactly one outcome, in time; nothing is left
 * at any process or at the server; and the locks can be had.
 */
final class Simulation {

    private static final int PROCESSES = 5;
    private static final int USERS = 3;
    private static final List<String> NAMES = List.of("a", "b", "c");
    /** Some twenty times what a busy history takes. */
    private static final int EVENTS_MAX = 500_000;

    private static final long LEASE_MILLIS = 2_000;
    private static final Duration BUSY_TIME = Duration.ofSeconds(30);
    private static final Duration QUIET_TIME = Duration.ofSeconds(30);

    /** What a history came to. */
    record Result(long grants, long losses, long timeouts, long errors) {}

    private final long seed;
    private final SplittableRandom random;
    private final LeaseRules rules;
    private final VirtualTime world = new VirtualTime();
    private final MemoryLockStore.Server server = new MemoryLockStore.Server(world);
    private final SimStore.Weather weather = new SimStore.Weather();
    private final List<Node> processes = new ArrayList<>();
    private final List<Given> given = new ArrayList<>();
    private final Map<String, Long> lastToken = new HashMap<>();
    /** Names released by force, with the base of the hold that this ended. */
    private final Map<String, Long> forced = new HashMap<>();

    private final List<String> timeline = new ArrayList<>();
    private boolean quiet;
    private long grants;
    private long losses;
    private long timeouts;
    private long errors;

    Simulation(long seed, LeaseRules rules) {
        this.seed = seed;
        this.random = new SplittableRandom(seed);
        this.rules = rules;
    }

    /** A lease that is out, as the checker sees it. */
    private static final class Given {
        final Node process;
        final ActiveLease lease;

        /** Its time has been seen to have passed. */
        boolean over;

        Given(Node process, ActiveLease lease) {
            this.process = process;
            this.lease = lease;
        }
    }

    private static final class Node {
        final int number;
        final SimTime time;
        final LockClient client;
        int waiting;

        /** How long it has been paused in all. */
        long pausedNanos;

        Node(int number, SimTime time, LockClient client) {
            this.number = number;
            this.time = time;
            this.client = client;
        }
    }

    Result run() {
        weather.loss = random.nextInt(3) * 0.05;
        weather.duplicates = random.nextInt(3) * 0.05;
        weather.delayNanosMax = new long[] {1, 50, 400, 3_000}[random.nextInt(4)] * 1_000_000;
        log(
                "loss %.2f, duplicates %.2f, delay up to %d ms",
                weather.loss, weather.duplicates, weather.delayNanosMax / 1_000_000);
        for (int i = 0; i < PROCESSES; i++) {
            Node process = newProcess(i);
            processes.add(process);
            for (int u = 0; u < USERS; u++) {
                think(process);
            }
        }
        scheduleFaults();
        runUntil(world.nanoTime() + BUSY_TIME.toNanos());
        quiet = true;
        weather.becomeFine();
        log("the network heals; nobody asks for locks any more");
        runUntil(world.nanoTime() + QUIET_TIME.toNanos());
        checkNothingLeft();
        return new Result(grants, losses, timeouts, errors);
    }

    List<String> timeline() {
        return timeline;
    }

    private Node newProcess(int number) {
        SimTime time = new SimTime(world, 1 + (random.nextDouble() - 0.5) / 125);
        SplittableRandom network = random.split();
        SplittableRandom jitter = random.split();
        String id = "p" + number;
        LockClient client = LockClient.builder()
                .store(new SimStore(server.connect(new StoreContext(id, time)), world, time, weather, network))
                .timeSource(time)
                .leaseTime(Duration.ofMillis(LEASE_MILLIS))
                .callbackExecutor(task -> time.schedule(0, task))
                .settings(settings -> {
                    settings.clientId = id;
                    settings.random = jitter::nextLong;
                    settings.rules = rules;
                    settings.pollNanos = 200_000_000;
                })
                .build();
        return new Node(number, time, client);
    }

    // --- what the users do ---

    private void think(Node process) {
        if (!quiet) {
            process.time.schedule(random.nextLong(800) * 1_000_000, () -> {
                if (!quiet) {
                    askFor(process, NAMES.get(random.nextInt(NAMES.size())));
                }
            });
        }
    }

    private void askFor(Node process, String name) {
        LockOptions options = randomOptions();
        long began = world.nanoTime();
        long pausedBefore = process.pausedNanos;
        process.waiting++;
        CompletionStage<Lease> stage = process.client.acquireAsync(name, options);
        if (random.nextInt(20) == 0) {
            process.time.schedule(
                    random.nextLong(500) * 1_000_000,
                    () -> stage.toCompletableFuture().cancel(false));
        }
        stage.whenComplete((lease, error) -> {
            process.waiting--;
            checkInTime(process, name, options, world.nanoTime() - began - (process.pausedNanos - pausedBefore));
            if (error != null) {
                notGiven(process, name, error);
                think(process);
            } else {
                hold(process, (ActiveLease) lease, options);
            }
        });
    }

    private LockOptions randomOptions() {
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

    private void notGiven(Node process, String name, Throwable error) {
        log("p%d: no %s: %s", process.number, name, error.getMessage());
        if (error instanceof LockTimeoutException) {
            timeouts++;
        } else {
            errors++;
        }
    }

    private void hold(Node process, ActiveLease lease, LockOptions options) {
        grants++;
        log("p%d: has %s, token %d, %s", process.number, lease.name(), lease.fencingToken(), options);
        Long last = lastToken.put(lease.name(), lease.fencingToken());
        if (last != null && last >= lease.fencingToken()) {
            throw violation("token " + lease.fencingToken() + " of " + lease.name() + " after " + last);
        }
        given.add(new Given(process, lease));
        lease.onLost(() -> {
            losses++;
            log("p%d: lost %s, token %d", process.number, lease.name(), lease.fencingToken());
        });
        long use = random.nextInt(5) == 0 ? random.nextLong(3 * LEASE_MILLIS) : random.nextLong(100);
        process.time.schedule(use * 1_000_000, () -> {
            log("p%d: releases %s, token %d", process.number, lease.name(), lease.fencingToken());
            lease.releaseAsync().whenComplete((nothing, lost) -> think(process));
        });
    }

    // --- what goes wrong ---

    private void scheduleFaults() {
        int pauses = random.nextInt(8);
        for (int i = 0; i < pauses; i++) {
            Node process = processes.get(random.nextInt(PROCESSES));
            long length = random.nextLong(2 * LEASE_MILLIS);
            at(() -> {
                log("p%d: paused for %d ms", process.number, length);
                process.pausedNanos += process.time.pause(length * 1_000_000);
            });
        }
        int kills = random.nextInt(3);
        for (int i = 0; i < kills; i++) {
            Node process = processes.get(random.nextInt(PROCESSES));
            at(() -> {
                log("p%d: killed", process.number);
                process.time.kill();
            });
        }
        if (random.nextInt(4) == 0) {
            String name = NAMES.get(random.nextInt(NAMES.size()));
            at(() -> {
                log("%s is released by force", name);
                LockStore admin = server.connect(new StoreContext("admin", world));
                // Takes the lock from under a valid lease, or one on its way: exclusion is not promised across it.
                forced.put(
                        name, admin.inspect(name).toCompletableFuture().join().base());
                admin.forceRelease(name);
            });
        }
        if (random.nextInt(4) == 0) {
            at(() -> {
                log("wall clocks jump");
                world.stepWall(Duration.ofMillis(random.nextLong(-5_000, 5_000)));
            });
        }
    }

    private void at(Runnable fault) {
        world.schedule(random.nextLong(BUSY_TIME.toNanos()), fault);
    }

    // --- what is checked ---

    private void runUntil(long endNanos) {
        boolean[] over = new boolean[1];
        world.schedule(endNanos - world.nanoTime(), () -> over[0] = true);
        for (int events = 0; !over[0]; events++) {
            if (events > EVENTS_MAX) {
                throw violation("a storm: more than " + EVENTS_MAX + " events");
            }
            world.runNext();
            checkExclusion();
        }
    }

    /** A bounded wait overruns by no more than one round trip; one attempt lasts as long as its command. */
    private void checkInTime(Node process, String name, LockOptions options, long tookNanos) {
        if (options.waitAtMost().isPresent()) {
            long wait = options.waitAtMost().get().toNanos();
            long most = (long) ((wait == 0 ? SimStore.COMMAND_TIMEOUT_NANOS : wait) * 1.01) + 1_000_000;
            if (tookNanos > most) {
                throw violation(
                        "p" + process.number + " waited " + tookNanos / 1_000_000 + " ms for " + name + ", " + options);
            }
        }
    }

    private void checkExclusion() {
        given.removeIf(g -> g.process.time.isDead() || g.lease.hasEnded() || wasForced(g.lease));
        for (Given one : given) {
            boolean held = one.lease.isHeldNow();
            if (held && one.over) {
                throw violation("a lease that was over is valid again: token " + one.lease.fencingToken() + " of "
                        + one.lease.name() + " at p" + one.process.number);
            }
            one.over = !held;
        }
        for (int i = 0; i < given.size(); i++) {
            for (int j = i + 1; j < given.size(); j++) {
                ActiveLease one = given.get(i).lease;
                ActiveLease other = given.get(j).lease;
                if (one.name().equals(other.name()) && one.isHeldNow() && other.isHeldNow()) {
                    throw violation("two valid leases on " + one.name() + ": token " + one.fencingToken() + " at p"
                            + given.get(i).process.number + ", token " + other.fencingToken() + " at p"
                            + given.get(j).process.number);
                }
            }
        }
    }

    private boolean wasForced(ActiveLease lease) {
        return lease.fencingToken() >> 16 <= forced.getOrDefault(lease.name(), -1L);
    }

    private void checkNothingLeft() {
        for (Node process : processes) {
            if (process.time.isDead()) {
                continue;
            }
            Engine engine = process.client.engine();
            if (process.waiting != 0) {
                throw violation(process.waiting + " waiters of p" + process.number + " had no outcome");
            }
            if (engine.size() != 0
                    || engine.renewals().size() != 0
                    || engine.compensation().pending() != 0) {
                throw violation("left at p" + process.number + ": " + engine.size() + " names, "
                        + engine.renewals().size() + " holds, "
                        + engine.compensation().pending() + " compensations");
            }
        }
        if (server.size() != 0) {
            throw violation("left at the server: " + server.size() + " names");
        }
    }

    private AssertionError violation(String what) {
        log("VIOLATION: %s", what);
        int from = Math.max(0, timeline.size() - 60);
        return new AssertionError("seed " + seed + ": " + what + "\nplay it again with -Dseed=" + seed + "\n"
                + String.join("\n", timeline.subList(from, timeline.size())));
    }

    @SuppressWarnings("AnnotateFormatMethod")
    private void log(String format, Object... arguments) {
        timeline.add("%9.3f  ".formatted(world.nanoTime() / 1e9 - 1) + format.formatted(arguments));
    }
}
