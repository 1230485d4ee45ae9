package io.holdfast.history;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A history, arranged for the checks. */
final class Recording {

    final History history;
    final List<Operation> operations;
    final HistoryChecker.Settings settings;

    /** The granted operations of each lock, in the order of their grants. */
    final Map<String, List<Operation>> grants = new LinkedHashMap<>();

    private final Map<String, Long> deaths = new HashMap<>();
    private final List<Event> forgotten = new ArrayList<>();
    private final Map<String, List<Event>> pauses = new HashMap<>();

    /** The time of the first grant of a hold, by lock and base of its tokens. */
    private final Map<String, Long> holds = new HashMap<>();

    final long ended;

    Recording(History history, List<Operation> operations, HistoryChecker.Settings settings) {
        this.history = history;
        this.operations = operations;
        this.settings = settings;
        List<Event> events = history.events();
        ended = events.isEmpty() ? 0 : events.get(events.size() - 1).nanos();
        for (Event event : events) {
            switch (event.kind()) {
                case DIED -> deaths.putIfAbsent(event.process(), event.nanos());
                case FORGOT -> forgotten.add(event);
                case PAUSED ->
                    pauses.computeIfAbsent(event.process(), p -> new ArrayList<>())
                            .add(event);
                default -> {}
            }
        }
        for (Operation operation : operations) {
            if (operation.wasGranted()) {
                grants.computeIfAbsent(operation.lock, l -> new ArrayList<>()).add(operation);
            }
        }
        grants.values().forEach(list -> list.sort((a, b) -> Long.compare(a.granted, b.granted)));
        grants.values().forEach(list -> list.forEach(o -> holds.putIfAbsent(hold(o), o.granted)));
    }

    /** Returns when the process was killed; {@link Operation#NEVER} if it was not. */
    long death(String process) {
        return deaths.getOrDefault(process, Operation.NEVER);
    }

    /** Returns the longest time for which a process was paused between two instants. */
    long paused(String process, long from, long to) {
        long total = 0;
        for (Event pause : pauses.getOrDefault(process, List.of())) {
            long length = pause.number("nanos", 0);
            if (pause.nanos() <= to && pause.nanos() + length >= from) {
                total += length;
            }
        }
        return total;
    }

    /**
     * Returns when the store last forgot holds between those of two leases; {@link Operation#NEVER} if it did not. A
     * hold begins no earlier than one lease time before its first lease is handed out.
     */
    long forgottenBetween(Operation one, Operation other) {
        long from = Math.min(begin(one), begin(other));
        long to = Math.max(one.granted, other.granted);
        long last = Operation.NEVER;
        for (Event event : forgotten) {
            long ended = end(event);
            if (ended >= from && event.nanos() <= to && concerns(event, one.lock)) {
                last = last == Operation.NEVER ? ended : Math.max(last, ended);
            }
        }
        return last;
    }

    /** Returns when a loss is noticed at the latest if each takes so long, and the store may lose more meanwhile. */
    long noticed(String lock, long forgot, long length) {
        long noticed = forgot + length;
        for (Event event : forgotten) {
            if (event.nanos() >= forgot && event.nanos() <= noticed && concerns(event, lock)) {
                noticed = Math.max(noticed, end(event) + length);
            }
        }
        return noticed;
    }

    private static boolean concerns(Event forgot, String lock) {
        return forgot.details().getOrDefault("lock", lock).equals(lock);
    }

    private static long end(Event forgot) {
        return forgot.nanos() + forgot.number("nanos", 0);
    }

    private long begin(Operation operation) {
        long longest = operation.lease == Operation.NEVER ? settings.lease : Math.max(settings.lease, operation.lease);
        return holds.getOrDefault(hold(operation), operation.granted) - longest;
    }

    private static String hold(Operation operation) {
        return operation.lock + ' ' + (operation.token < 0 ? operation.id : Long.toString(operation.token >> 14));
    }
}
