package io.holdfast.console;

import io.holdfast.ClientCard;
import io.holdfast.ClientCard.HeldLock;
import io.holdfast.ClientCard.ReadWriteUse;
import io.holdfast.ClientCard.WaitedLock;
import io.holdfast.DistributedReadWriteLock;
import io.holdfast.Leadership;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/**
 * Finds clients that wait for each other's locks, in one look at their cards. For one use.
 *
 * <p>Deadlocks come first: in each client of such a cycle, the thread that waits alone releases the client's lock. The
 * other cycles only join clients. Of those with the same clients, one is enough for a person.
 *
 * <p>A writer waits for the end of each reader, and a reader for that of the writer. So a deadlock may lead through the
 * oldest lease of a client on a read-write lock; another cycle through it would join busy readers only. Permits are in
 * none: any holder may let their waiter go on.
 */
final class CycleFinder {

    /** In a longer cycle some client gives up before a person has understood it. */
    private static final int LENGTH_MAX = 10;

    /** Cards are data of others: no set of them may keep a reader busy. */
    private static final int STEPS_MAX = 20_000;

    /**
     * A client waits for a lock that another client holds.
     *
     * @param ofPool whether this is a read-write lock
     */
    private record Edge(ClientCard from, WaitedLock waited, ClientCard to, HeldLock held, boolean ofPool) {}

    private final Map<String, List<Edge>> edges = new HashMap<>(); // by the waiting client's id
    private final Map<List<String>, Cycle> deadlocks = new LinkedHashMap<>(); // by key
    private final Map<List<String>, Cycle> possible = new LinkedHashMap<>(); // by clients
    private int steps;

    /** @param clients without the silent ones */
    CycleFinder(List<ClientCard> clients) {
        Map<String, ClientCard> holders = new HashMap<>(); // by lock name
        for (ClientCard client : clients) {
            client.held().forEach(lock -> holders.merge(lock.name(), client, (one, other) -> newer(lock, one, other)));
        }
        for (ClientCard client : clients) {
            for (WaitedLock waited : client.waiting()) {
                if (waited.name().startsWith(Leadership.LOCK_PREFIX)) {
                    continue; // a candidate waits for years, and keeps nothing from going on
                }
                ClientCard holder = holders.get(waited.name());
                if (holder != null && !holder.id().equals(client.id())) {
                    add(new Edge(
                            client, waited, holder, holder.hold(waited.name()).orElseThrow(), false));
                }
            }
        }
        addReadWrite(clients);
    }

    private void add(Edge edge) {
        edges.computeIfAbsent(edge.from().id(), id -> new ArrayList<>()).add(edge);
    }

    /** Adds the waits for read-write locks: of threads, for holders that a thread alone releases. */
    private void addReadWrite(List<ClientCard> clients) {
        Map<String, Map<ReadWriteUse, ClientCard>> holders = new HashMap<>(); // by name
        for (ClientCard client : clients) {
            client.readWrite().stream()
                    .filter(use -> use.owner().isPresent() && use.holderId().isPresent())
                    .forEach(use -> holders.computeIfAbsent(use.name(), name -> new LinkedHashMap<>())
                            .put(use, client));
        }
        for (ClientCard client : clients) {
            for (ReadWriteUse waited : client.readWrite()) {
                if (waited.waitingOwner().isPresent()) {
                    holders.getOrDefault(waited.name(), Map.of()).forEach((held, holder) -> {
                        if ((waited.isWriter() || held.isWriter())
                                && !holder.id().equals(client.id())) {
                            add(new Edge(client, asWait(waited), holder, asHold(held), true));
                        }
                    });
                }
            }
        }
    }

    private static WaitedLock asWait(ReadWriteUse use) {
        return new WaitedLock(
                DistributedReadWriteLock.SHOWN_PREFIX + use.name(),
                use.waited(),
                use.waiters(),
                Optional.empty(),
                Optional.empty(),
                use.waitingOwner());
    }

    private static HeldLock asHold(ReadWriteUse use) {
        return new HeldLock(
                DistributedReadWriteLock.SHOWN_PREFIX + use.name(),
                use.holderId().orElseThrow(),
                0,
                use.heldFor(),
                Optional.empty(),
                0,
                Duration.ZERO,
                Optional.empty(),
                Optional.empty(),
                use.owner());
    }

    private static ClientCard newer(HeldLock lock, ClientCard one, ClientCard other) {
        return token(one, lock.name()) >= token(other, lock.name()) ? one : other;
    }

    private static long token(ClientCard client, String name) {
        return client.hold(name).map(HeldLock::fencingToken).orElse(0L);
    }

    /** Finds all cycles. */
    void find() {
        dropEnds();
        for (boolean sameThreads : new boolean[] {true, false}) {
            steps = 0;
            // A cycle is found from its smallest client on.
            edges.keySet().stream().sorted().forEach(start -> search(start, start, new ArrayList<>(), sameThreads));
        }
        deadlocks.values().forEach(cycle -> possible.remove(cycle.clients()));
    }

    /** Returns the cycles in which the same threads hold and wait, each once. */
    List<Cycle> deadlocks() {
        return List.copyOf(deadlocks.values());
    }

    /** Returns a cycle for each set of clients that wait for each other and are in no such deadlock together. */
    List<Cycle> possible() {
        return List.copyOf(possible.values());
    }

    /** Removes waits for clients that wait for nothing: they are in no cycle. Usually no wait is left. */
    private void dropEnds() {
        boolean dropped = true;
        while (dropped) {
            Set<String> waiting = Set.copyOf(edges.keySet());
            dropped = false;
            for (List<Edge> out : edges.values()) {
                dropped |= out.removeIf(edge -> !waiting.contains(edge.to().id()));
            }
            edges.values().removeIf(List::isEmpty);
        }
    }

    /** @param sameThreads whether only waits of the thread count that releases the client's lock */
    private void search(String start, String at, List<Edge> path, boolean sameThreads) {
        for (Edge edge : edges.getOrDefault(at, List.of())) {
            String next = edge.to().id();
            if (++steps > STEPS_MAX
                    || next.compareTo(start) < 0
                    || (edge.ofPool() && !sameThreads)
                    || (sameThreads && !path.isEmpty() && !isSameThread(path.get(path.size() - 1), edge))) {
                continue;
            }
            path.add(edge);
            if (next.equals(start)) {
                if (!sameThreads) {
                    Cycle cycle = cycle(path, false);
                    possible.putIfAbsent(cycle.clients(), cycle);
                } else if (isSameThread(edge, path.get(0))) {
                    Cycle cycle = cycle(path, true);
                    deadlocks.putIfAbsent(cycle.key(), cycle);
                }
            } else if (path.size() < LENGTH_MAX
                    && path.stream().noneMatch(one -> one.from().id().equals(next))) {
                search(start, next, path, sameThreads);
            }
            path.remove(path.size() - 1);
        }
    }

    /** Returns whether the thread that waits for the second lock alone releases the first. */
    private static boolean isSameThread(Edge into, Edge out) {
        OptionalLong holding = into.held().owner();
        return holding.isPresent() && holding.equals(out.waited().owner());
    }

    private static Cycle cycle(List<Edge> path, boolean isDeadlock) {
        List<Cycle.Step> steps = new ArrayList<>();
        for (int i = 0; i < path.size(); i++) {
            Edge out = path.get(i);
            Edge into = path.get((i + path.size() - 1) % path.size());
            steps.add(new Cycle.Step(
                    out.from(),
                    into.held().name(),
                    into.held().holderId(),
                    out.waited().name(),
                    into.held().heldFor(),
                    out.waited().waited()));
        }
        return new Cycle(steps, isDeadlock);
    }
}
