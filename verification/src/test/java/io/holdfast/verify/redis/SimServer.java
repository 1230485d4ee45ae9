package io.holdfast.verify.redis;

import io.holdfast.engine.PoolBug;
import io.holdfast.memory.VirtualTime;
import io.holdfast.spi.AcquireAllReply;
import io.holdfast.spi.AcquireReply;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.HolderId;
import io.holdfast.spi.PushedGrant;
import io.holdfast.verify.engine.SimLine;
import io.holdfast.verify.engine.Simulation;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A Redis server with our scripts, and a replica that lags behind it: it can crash with its data and without, fail over
 * to what the replica had, and have its clock set.
 */
final class SimServer implements SimLine.Host {

    /** A present-day date; the simulated monotonic time is added. */
    private static final long EPOCH_NANOS = 1_800_000_000_000L * 1_000_000;

    /** What the replica does not have yet. */
    private record Logged(long nanos, String name, NameModel after) {}

    private final VirtualTime world;
    private final ScriptBug bug;
    private final PoolBug poolBug;

    /** Whether each command is executed once, in the order of its client. */
    private final boolean inOrder;

    /** Whether readers hear no message about a writer that waits. */
    private final boolean hidesWriters;

    private final Map<String, NameModel> names = new HashMap<>();
    private final Map<String, SimStore> clients = new HashMap<>();
    private final Map<String, NameModel> replica = new HashMap<>();
    private final ArrayDeque<Logged> behind = new ArrayDeque<>();
    private long clockNanos;
    private long downUntilNanos;

    /** By name: what separates holds between which exclusion is not promised. Grows with each loss of data. */
    private final Map<String, Integer> epochs = new HashMap<>();

    private final Map<String, Integer> epochOfBase = new HashMap<>();
    private final Map<String, Long> highestBase = new HashMap<>();

    /** Holds whose release was confirmed to the client, if they cannot come back. */
    private final Map<String, Set<String>> released = new HashMap<>();

    private boolean mayComeBack;

    /** What the clock said after it was last put forward. */
    private long jumpedNanos = Long.MIN_VALUE;

    private Consumer<String> notPromised = name -> {};

    /** Holder ids that something may still be executed for. */
    private final Set<String> underWay = new HashSet<>();

    /** How far the replica lags; negative: there is none, and nothing is logged for it. */
    private final long lagNanos;

    SimServer(VirtualTime world, ScriptBug bug, PoolBug poolBug, boolean inOrder, boolean hidesWriters, long lagNanos) {
        this.world = world;
        this.bug = bug;
        this.poolBug = poolBug;
        this.inOrder = inOrder;
        this.hidesWriters = hidesWriters;
        this.lagNanos = lagNanos;
    }

    void connect(String clientId, SimStore client) {
        clients.put(clientId, client);
    }

    @Override
    public boolean isDown() {
        return world.nanoTime() < downUntilNanos;
    }

    @Override
    public void receive(Runnable event) {
        if (!isDown()) {
            event.run();
        }
    }

    long now() {
        return EPOCH_NANOS + world.nanoTime() + clockNanos;
    }

    /** Runs a command now. The messages it sends go out before its reply. */
    <T extends @Nullable Object> T execute(String name, BiFunction<NameModel, NameModel.Messenger, T> command) {
        NameModel state = name(name);
        Map<String, Long> before = state.holds(now());
        T reply = command.apply(state, new Messages(name));
        // Several in the order in which they were granted.
        state.holds(now()).forEach((held, base) -> {
            if (released.getOrDefault(name, Set.of()).contains(held)) {
                throw new AssertionError(held + " holds " + name + " again after its confirmed release");
            }
            if (!base.equals(before.get(held))) {
                granted(name, held, base);
            }
        });
        if (lagNanos >= 0) {
            behind.add(new Logged(world.nanoTime(), name, state.copy()));
            catchUp();
        }
        return reply;
    }

    /** Takes several names, all or none; null if that is too late. */
    @Nullable
    AcquireAllReply acquireAll(List<AcquireRequest> requests, long notAfter) {
        if (now() > notAfter) {
            return null;
        }
        for (AcquireRequest request : requests) {
            if (!((ScriptModel) name(request.name())).isToBeHadBy(request.holderId(), now())) {
                return AcquireAllReply.busy(request.name());
            }
        }
        List<AcquireReply.Granted> granted = new ArrayList<>();
        for (AcquireRequest request : requests) {
            AcquireReply reply = Objects.requireNonNull(
                    execute(request.name(), (name, messages) -> name.acquire(request, notAfter, now(), messages)));
            granted.add((AcquireReply.Granted) reply);
        }
        return AcquireAllReply.taken(granted);
    }

    /** The truth about a name, without changing it. */
    Set<String> holders(String name) {
        NameModel state = names.get(name);
        return state == null ? Set.of() : state.holds(now()).keySet();
    }

    /** What anybody who may read the server sees of a name. */
    NameModel seen(String name) {
        return name(name);
    }

    /** Who may publish reaches any client that listens; null if that one does not. */
    @Nullable
    SimStore listening(String clientId) {
        SimStore client = clients.get(clientId);
        return client != null && client.isListening() ? client : null;
    }

    /** The client knows that this hold has been released. */
    void released(String name, String holderId) {
        if (!mayComeBack && !underWay.contains(name + ' ' + holderId)) {
            released.computeIfAbsent(name, n -> new HashSet<>()).add(holderId);
        }
    }

    /** What was asked for this id may be executed later than anything that is asked now. */
    void mayComeBack(String name, String holderId) {
        underWay.add(name + ' ' + holderId);
    }

    /** Names that somebody holds or waits for. */
    Set<String> used() {
        Set<String> used = new HashSet<>();
        names.forEach((name, state) -> {
            if (!state.isFree(now())) {
                used.add(name);
            }
        });
        return used;
    }

    /** Which epoch the hold with this base began in. */
    int epochOf(String name, long base) {
        return epochOfBase.getOrDefault(name + ' ' + base, -1);
    }

    int epoch(String name) {
        return epochs.getOrDefault(name, 0);
    }

    /** From now on, exclusion is not promised against what was granted before. */
    void forget(String name) {
        epochs.merge(name, 1, Integer::sum);
    }

    // --- what goes wrong ---

    /** Stops for a while; connections break. */
    void crash(boolean keepsData, long downNanos) {
        if (!keepsData) {
            names.clear();
        }
        stop(downNanos);
    }

    /** The replica takes over, with what it had. */
    void failOver(long downNanos, long clockStepNanos) {
        catchUp();
        behind.clear();
        released.clear();
        names.clear();
        replica.forEach((name, state) -> names.put(name, state.copy()));
        clockNanos += clockStepNanos;
        mayComeBack = true;
        stop(downNanos);
    }

    /**
     * Sets the clock. Ahead: holds end early, so exclusion is not promised for them; nor for a hold that is granted
     * after it to somebody whose last asking was stamped before it: the jump is taken for time that he waited.
     *
     * @param notPromised told of the name after such a grant
     */
    void stepClock(long nanos, Consumer<String> notPromised) {
        clockNanos += nanos;
        if (nanos > 0) {
            jumpedNanos = now();
            this.notPromised = notPromised;
        }
        // A clock that went back executes what was too late before.
        released.clear();
        mayComeBack |= nanos < 0;
    }

    private void stop(long downNanos) {
        // A second outage may begin during one, and end after it.
        downUntilNanos = Math.max(downUntilNanos, world.nanoTime() + downNanos);
        clients.values().forEach(SimStore::breakConnection);
    }

    private void catchUp() {
        long until = world.nanoTime() - lagNanos;
        while (!behind.isEmpty() && behind.getFirst().nanos() <= until) {
            Logged write = behind.removeFirst();
            replica.put(write.name(), write.after());
        }
    }

    private NameModel name(String name) {
        return names.computeIfAbsent(
                name, n -> Simulation.isPool(n) ? new PoolModel(poolBug, inOrder) : new ScriptModel(bug));
    }

    private void granted(String name, String held, long base) {
        epochOfBase.put(name + ' ' + base, epoch(name));
        Long highest = highestBase.put(name, base);
        if (highest != null && highest >= base) {
            throw new AssertionError("the server gave " + held + " base " + base + " of " + name + " after " + highest);
        }
    }

    /** What the scripts publish about a name. */
    private final class Messages implements NameModel.Messenger {
        private final String name;

        Messages(String name) {
            this.name = name;
        }

        @Override
        public boolean hears(String holderId) {
            return receiver(holderId) != null;
        }

        @Override
        public boolean granted(PushedGrant grant) {
            SimStore client = receiver(grant.holderId());
            if (client != null) {
                client.granted(name, grant);
                // Rounded down, so the stamp may have been a millisecond earlier.
                if (now() - (grant.sinceAskingMillis() + 1) * 1_000_000 < jumpedNanos) {
                    // Later than this execution, which the hold belongs to.
                    world.schedule(0, () -> notPromised.accept(name));
                }
            }
            return client != null;
        }

        @Override
        public void contended(String holderId) {
            SimStore client = receiver(holderId);
            boolean isHidden = name.equals(Simulation.READ_WRITE) && hidesWriters;
            if (client != null && !isHidden) {
                client.message(name, listener -> listener.contended(name, holderId));
            }
        }

        @Override
        public void forced(String holderId) {
            SimStore client = receiver(holderId);
            if (client != null) {
                client.message(name, listener -> listener.forced(name, holderId));
            }
        }

        private @Nullable SimStore receiver(String holderId) {
            return listening(HolderId.client(holderId));
        }
    }
}
