package io.holdfast.console;

import io.holdfast.ClientCard;
import io.holdfast.ClientCard.HeldLock;
import io.holdfast.ClientCard.WaitedLock;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Finds clients that wait for each other's locks, in one look at their cards. For one use. */
final class CycleFinder {

    /** In a longer cycle some client gives up before a person has understood it. */
    private static final int LENGTH_MAX = 10;

    /** Cards are data of others: no set of them may keep a reader busy. */
    private static final int STEPS_MAX = 20_000;

    /** A client waits for a lock that another client holds. */
    private record Edge(ClientCard from, WaitedLock waited, ClientCard to, HeldLock held) {}

    private final Map<String, List<Edge>> edges = new HashMap<>(); // by the waiting client's id
    private final Map<List<String>, Cycle> found = new LinkedHashMap<>(); // by key
    private int steps;

    /** @param clients without the silent ones */
    CycleFinder(List<ClientCard> clients) {
        Map<String, ClientCard> holders = new HashMap<>(); // by lock name
        for (ClientCard client : clients) {
            client.held().forEach(lock -> holders.merge(lock.name(), client, (one, other) -> newer(lock, one, other)));
        }
        for (ClientCard client : clients) {
            for (WaitedLock waited : client.waiting()) {
                ClientCard holder = holders.get(waited.name());
                if (holder != null && !holder.id().equals(client.id())) {
                    Edge edge = new Edge(
                            client, waited, holder, holder.hold(waited.name()).orElseThrow());
                    edges.computeIfAbsent(client.id(), id -> new ArrayList<>()).add(edge);
                }
            }
        }
    }

    private static ClientCard newer(HeldLock lock, ClientCard one, ClientCard other) {
        return token(one, lock.name()) >= token(other, lock.name()) ? one : other;
    }

    private static long token(ClientCard client, String name) {
        return client.hold(name).map(HeldLock::fencingToken).orElse(0L);
    }

    /** Returns the cycles, each once. */
    List<Cycle> find() {
        dropEnds();
        // A cycle is found from its smallest client on.
        edges.keySet().stream().sorted().forEach(start -> search(start, start, new ArrayList<>()));
        return List.copyOf(found.values());
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

    private void search(String start, String at, List<Edge> path) {
        for (Edge edge : edges.getOrDefault(at, List.of())) {
            String next = edge.to().id();
            if (++steps > STEPS_MAX
                    || next.compareTo(start) < 0
                    || (!path.isEmpty() && isOtherThread(path.get(path.size() - 1), edge))) {
                continue;
            }
            path.add(edge);
            if (next.equals(start)) {
                if (!isOtherThread(edge, path.get(0))) {
                    Cycle cycle = cycle(path);
                    found.putIfAbsent(cycle.key(), cycle);
                }
            } else if (path.size() < LENGTH_MAX
                    && path.stream().noneMatch(one -> one.from().id().equals(next))) {
                search(start, next, path);
            }
            path.remove(path.size() - 1);
        }
    }

    /**
     * Whether the client is known to hold the first lock by another thread than the only one that waits for the second.
     */
    private static boolean isOtherThread(Edge into, Edge out) {
        Optional<String> holding = into.held().thread();
        Optional<String> waiting = out.waited().thread();
        return out.waited().waiters() == 1 && holding.isPresent() && waiting.isPresent() && !holding.equals(waiting);
    }

    private static Cycle cycle(List<Edge> path) {
        List<Cycle.Step> steps = new ArrayList<>();
        for (int i = 0; i < path.size(); i++) {
            Edge out = path.get(i);
            Edge into = path.get((i + path.size() - 1) % path.size());
            steps.add(new Cycle.Step(
                    out.from(),
                    into.held().name(),
                    into.held().holderId(),
                    out.waited().name(),
                    out.waited().waited()));
        }
        return new Cycle(steps);
    }
}
