package io.holdfast.verify.redis;

import io.holdfast.memory.VirtualTime;
import io.holdfast.redis.commands.Ability;
import io.holdfast.redis.commands.CommandsHold;
import io.holdfast.redis.commands.CompareProbe;
import io.holdfast.redis.commands.CompareWays;
import io.holdfast.redis.server.RedisKeys;
import io.holdfast.redis.server.RefusedCommands;
import io.holdfast.verify.redis.KeySpace.Entry;
import io.holdfast.verify.redis.KeySpace.Kind;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A simulated Redis server that runs no scripts, and a replica that lags behind it, perhaps of another version: it can
 * crash with its data and without, fail over to what the replica had, be stopped, and have its clock set.
 */
public final class SimRedis {

    /** A present-day date; the simulated monotonic time is added. */
    private static final long EPOCH_NANOS = 1_800_000_000_000L * 1_000_000;

    /** What the replica does not have yet; a null entry: the key has gone. */
    private record Logged(long nanos, String key, @Nullable Entry entry) {}

    private final VirtualTime world;
    private final List<String> names;
    private final CommandsBug bug;
    private final Kind replicaKind;
    private final Map<String, Entry> replica = new HashMap<>();
    private final ArrayDeque<Logged> behind = new ArrayDeque<>();

    /** How far the replica lags. */
    private final long lagNanos;

    private final List<SimWire> wires = new ArrayList<>();
    private final ArrayDeque<Runnable> waiting = new ArrayDeque<>();
    private RedisModel model;
    private long clockNanos;
    private Predicate<List<String>> cutAt = words -> false;
    private long downUntilNanos;
    private long stoppedUntilNanos;

    // --- the truth ---

    /** By name: the id that holds, as far as commands have looked. */
    private final Map<String, String> holders = new HashMap<>();

    /** By name: what separates holds between which exclusion is not promised. Grows with each loss of data. */
    private final Map<String, Integer> epochs = new HashMap<>();

    private final Map<String, Integer> epochOfHold = new HashMap<>();
    private final Map<String, Integer> epochOfBase = new HashMap<>();

    /** Holds whose release was confirmed to the client, if they cannot come back. */
    private final Set<String> released = new HashSet<>();

    private boolean mayComeBack;

    /** Holds that an acquire may still bring back which was sent on a connection that has ended. */
    private final Set<String> late = new HashSet<>();

    /**
     * A server of a random kind.
     *
     * @param names the locks
     */
    public SimRedis(VirtualTime world, SplittableRandom random, List<String> names, CommandsBug bug) {
        Kind[] kinds = Kind.values();
        Kind kind = kinds[random.nextInt(kinds.length)];
        this.world = world;
        this.names = names;
        this.bug = bug;
        replicaKind = random.nextBoolean() ? kind : kinds[random.nextInt(kinds.length)];
        lagNanos = random.nextLong(1_000) * 1_000_000;
        model = new RedisModel(kind, this::changed);
    }

    /** One without a replica. */
    SimRedis(VirtualTime world, Kind kind, List<String> names) {
        this.world = world;
        this.names = names;
        this.bug = CommandsBug.NONE;
        replicaKind = kind;
        lagNanos = 0;
        model = new RedisModel(kind, this::changed);
    }

    /** What a client finds out about it when it connects first. */
    CompareProbe.Finding finding() {
        Kind kind = model.keys.kind;
        Set<Ability> abilities = EnumSet.of(Ability.WATCH, Ability.PUBLISH);
        Map.of(
                        Ability.DELIFEQ, kind.delifeq,
                        Ability.DELEX, kind.delex,
                        Ability.SET_IFEQ, kind.setIfeq)
                .forEach((ability, has) -> {
                    if (has) {
                        abilities.add(ability);
                    }
                });
        return new CompareProbe.Finding(new CompareWays.Choice(abilities), true, new RefusedCommands(Map.of()));
    }

    CommandsBug bug() {
        return bug;
    }

    /** For a test of one schedule: a connection ends when it brings such a command, which is not executed. */
    void cutAt(Predicate<List<String>> command) {
        cutAt = command;
    }

    boolean isCutAt(List<String> words) {
        return cutAt.test(words);
    }

    /** For a test of one schedule: what a connection brought is executed now, without an answer to anybody. */
    @Nullable
    Object executeLate(List<String> words) {
        return model.open((channel, message) -> {}).execute(words, millis());
    }

    // --- connections ---

    boolean accepts() {
        return !isDown() && world.nanoTime() >= stoppedUntilNanos;
    }

    RedisModel.Session open(SimWire wire, RedisModel.Receiver receiver) {
        wires.add(wire);
        return model.open(receiver);
    }

    /** While it is stopped, what arrives waits in its sockets; it is executed in the order of arrival then. */
    void receive(Runnable event) {
        if (isDown()) {
            return;
        }
        if (world.nanoTime() < stoppedUntilNanos) {
            waiting.add(event);
        } else {
            event.run();
        }
    }

    @Nullable
    Object execute(RedisModel.Session session, List<String> words) {
        if (bug == CommandsBug.TOKENS_WITHOUT_THE_LAST && words.get(0).equals("INCR")) {
            var unused = session.execute(List.of("DEL", words.get(1)), millis());
        }
        if (bug == CommandsBug.TOKENS_WITHOUT_THE_CLOCK && words.get(0).equals("TIME")) {
            return List.of("0", "0");
        }
        return session.execute(bug.changed(words), millis());
    }

    private long millis() {
        return Math.floorDiv(EPOCH_NANOS + world.nanoTime() + clockNanos, 1_000_000);
    }

    // --- what goes wrong ---

    /** Stops for a while; connections end. */
    public void crash(boolean keepsData, long downNanos) {
        if (!keepsData) {
            replace(model.keys.kind, Map.of());
        }
        goDown(downNanos);
    }

    /** The replica takes over, with what it had. */
    public void failOver(long downNanos, long clockStepNanos) {
        catchUp();
        behind.clear();
        released.clear();
        mayComeBack = true;
        clockNanos += clockStepNanos;
        replace(replicaKind, replica);
        goDown(downNanos);
    }

    /** It does nothing for a while. */
    public void stop(long nanos) {
        stoppedUntilNanos = Math.max(stoppedUntilNanos, world.nanoTime() + nanos);
        world.schedule(nanos, () -> {
            while (world.nanoTime() >= stoppedUntilNanos && !waiting.isEmpty()) {
                waiting.remove().run();
            }
        });
    }

    /** Sets the clock. Ahead: holds end early, so exclusion is not promised. */
    public void stepClock(long nanos) {
        clockNanos += nanos;
        // A clock that went back keeps holds for longer than their clients know.
        released.clear();
    }

    private void replace(Kind kind, Map<String, Entry> content) {
        model = new RedisModel(kind, this::changed);
        model.keys.fill(content);
        holders.clear();
        for (String name : names) {
            String value = model.keys.peek(name, millis());
            if (value != null) {
                holders.put(name, CommandsHold.holder(value));
            }
        }
    }

    private boolean isDown() {
        return world.nanoTime() < downUntilNanos;
    }

    private void goDown(long nanos) {
        // A second outage may begin during one, and end before it.
        downUntilNanos = Math.max(downUntilNanos, world.nanoTime() + nanos);
        waiting.clear();
        stoppedUntilNanos = world.nanoTime();
        List.copyOf(wires).forEach(SimWire::cut);
        wires.clear();
    }

    private void catchUp() {
        long until = world.nanoTime() - lagNanos;
        while (!behind.isEmpty() && behind.getFirst().nanos() <= until) {
            Logged write = behind.removeFirst();
            Entry entry = write.entry();
            if (entry == null) {
                replica.remove(write.key());
            } else {
                replica.put(write.key(), entry);
            }
        }
    }

    // --- the truth ---

    private void changed(String key, @Nullable Entry entry) {
        behind.add(new Logged(world.nanoTime(), key, entry));
        catchUp();
        if (!names.contains(key)) {
            return;
        }
        String value = entry == null ? null : model.keys.peek(key, millis());
        if (value == null) {
            holders.remove(key);
            return;
        }
        String holder = CommandsHold.holder(value);
        if (!holder.equals(holders.put(key, holder))) {
            if (released.contains(key + ' ' + holder)) {
                throw new AssertionError(holder + " holds " + key + " again after its confirmed release");
            }
            epochOfHold.put(key + ' ' + holder, epoch(key));
        }
    }

    private int epoch(String name) {
        return epochs.getOrDefault(name, 0);
    }

    /** From now on, exclusion is not promised against what was granted before. */
    public void forget(String name) {
        epochs.merge(name, 1, Integer::sum);
    }

    /** The client was granted this hold. */
    void granted(String name, String holderId, long base) {
        epochOfBase.put(name + ' ' + base, epochOfHold.getOrDefault(name + ' ' + holderId, -1));
    }

    /** The client knows that this hold has been released. */
    void released(String name, String holderId) {
        if (!mayComeBack && !late.contains(name + ' ' + holderId)) {
            released.add(name + ' ' + holderId);
        }
    }

    /** Such a hold ends with its lease only: plain commands have no "not after". */
    void mayComeLate(List<String> words) {
        if (words.get(0).equals("SET") && names.contains(words.get(1))) {
            late.add(words.get(1) + ' ' + CommandsHold.holder(words.get(2)));
        }
    }

    /** Which epoch the hold with this base began in. */
    public int epochOf(String name, long base) {
        return epochOfBase.getOrDefault(name + ' ' + base, -1);
    }

    /** The id that holds a name now. */
    public @Nullable String holder(String name) {
        String value = model.keys.peek(name, millis());
        return value == null ? null : CommandsHold.holder(value);
    }

    /** Names that somebody holds. */
    public Set<String> used() {
        Set<String> used = new TreeSet<>();
        for (String name : names) {
            if (holder(name) != null) {
                used.add(name + " by " + holder(name));
            }
        }
        return used;
    }

    public void forceRelease(String name) {
        // Nobody can order anything from a server that is down.
        if (!isDown()) {
            executeLate(List.of("DEL", name));
            executeLate(List.of("PUBLISH", RedisKeys.redissonChannel(name), RedisKeys.RELEASED));
        }
    }

    @Override
    public String toString() {
        return model.keys.kind + ", replica " + replicaKind + " by " + lagNanos / 1_000_000 + " ms";
    }
}
