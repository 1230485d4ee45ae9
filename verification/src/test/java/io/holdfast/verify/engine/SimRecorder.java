package io.holdfast.verify.engine;

import io.holdfast.LockOptions;
import io.holdfast.LockTimeoutException;
import io.holdfast.history.Event;
import io.holdfast.history.Event.Kind;
import io.holdfast.history.History;
import io.holdfast.memory.VirtualTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;

/**
 * What a simulation leaves behind: a timeline for people, a history for the checker, and the resources that the locks
 * guard: for each lock a register that compares fencing tokens, and a counter that does not.
 */
public final class SimRecorder {

    /** A register that refuses tokens smaller than any it has seen, at reading too. */
    private static final class Register {
        long token;
        long value;
    }

    /** A line of the timeline, put into words only when somebody wants to read it. */
    @SuppressWarnings("ArrayRecordComponent")
    private record Line(long nanos, String format, Object[] arguments) {
        @SuppressWarnings("AnnotateFormatMethod")
        String text() {
            return "%9.3f  ".formatted(nanos / 1e9 - 1) + format.formatted(arguments);
        }
    }

    private final VirtualTime world;
    private final List<Line> timeline = new ArrayList<>();
    private final List<Event> events = new ArrayList<>();
    private final Map<String, Register> registers = new HashMap<>();
    private final Map<String, Long> counters = new HashMap<>();

    SimRecorder(VirtualTime world) {
        this.world = world;
    }

    List<String> timeline() {
        return timeline.stream().map(Line::text).toList();
    }

    History history() {
        return new History(events);
    }

    /**
     * Adds a line to the timeline.
     *
     * @param arguments values that never change: they are formatted later
     */
    @SuppressWarnings("AnnotateFormatMethod")
    public void log(String format, Object... arguments) {
        timeline.add(new Line(world.nanoTime(), format, arguments));
    }

    public void event(Kind kind, String who, Object... details) {
        events.add(Event.of(world.nanoTime(), kind, who, details));
    }

    /**
     * @param owner the thread that may lock it again; empty if the lease itself is the owner
     * @param extended whether the lease may get another time than the one it is asked for with
     */
    void asked(String who, String lock, LockOptions options, String owner, boolean extended) {
        asked(who, lock, options, owner, extended, 1, 1);
    }

    /** Asks for permits, or for a lock if both numbers are 1. */
    void asked(String who, String lock, LockOptions options, String owner, boolean extended, int weight, int capacity) {
        List<Object> details = new ArrayList<>(List.of("lock", lock));
        if (capacity > 1) {
            details.addAll(List.of("weight", weight, "capacity", capacity));
            if (lock.equals(Simulation.READ_WRITE) && weight == 1) {
                details.addAll(List.of("shared", true));
            }
        }
        options.waitAtMost().map(Duration::toNanos).ifPresent(wait -> details.addAll(List.of("wait", wait)));
        // A process's clock may run slower than the world's, by half a percent at most.
        options.leaseFor()
                .filter(lease -> !extended)
                .map(Duration::toNanos)
                .ifPresent(lease -> details.addAll(List.of("lease", lease + lease / 200)));
        if (!owner.isEmpty()) {
            details.addAll(List.of("owner", owner));
        }
        event(Kind.ASK, who, details.toArray());
    }

    void refused(String who, Throwable error) {
        Throwable cause = error instanceof CompletionException && error.getCause() != null ? error.getCause() : error;
        String why = cause instanceof LockTimeoutException
                ? "timeout"
                : cause instanceof CancellationException || cause instanceof InterruptedException
                        ? "withdrawn"
                        : "failed";
        event(Kind.REFUSED, who, "why", why);
        log("%s: refused, %s: %s", who, why, cause.getMessage());
    }

    /** The instant at which a lease was last seen valid, found out later. */
    void validAt(long nanos, String who) {
        events.add(Event.of(nanos, Kind.VALID, who));
    }

    /** The guarded value, or -1 if the register has seen a larger token. */
    long read(String who, String lock, long token) {
        Register register = registers.computeIfAbsent(lock, l -> new Register());
        if (token < register.token) {
            return -1;
        }
        register.token = token;
        event(Kind.READ, who, "of", lock, "value", register.value);
        return register.value;
    }

    void write(String who, String lock, long token, long value) {
        Register register = registers.computeIfAbsent(lock, l -> new Register());
        boolean accepted = token >= register.token;
        if (accepted) {
            register.token = token;
            register.value = value;
        }
        event(Kind.WRITE, who, "of", lock, "value", value, "token", token, "accepted", accepted);
    }

    long readCounter(String lock) {
        return counters.getOrDefault(lock, 0L);
    }

    void writeCounter(String who, String lock, long value) {
        counters.put(lock, value);
        event(Kind.COUNT, who, "of", "counter " + lock, "value", value);
    }
}
