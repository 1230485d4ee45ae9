package io.holdfast.history;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** One use of a lock, assembled from its events. A time that was not recorded is {@link #NEVER}. */
final class Operation {

    static final long NEVER = Long.MAX_VALUE;

    final String id;
    final String process;
    final String lock;
    final long asked;

    /** The longest wait; {@link #NEVER} without a limit. */
    final long wait;

    /** The fixed length of its lease; {@link #NEVER} if the lease was renewed. */
    final long lease;

    /** What its lease weighs. */
    final long weight;

    /** How much all leases together may weigh when its own begins. */
    final long capacity;

    /** Whether several operations may share what the store granted, so that a later one may have a smaller token. */
    final boolean shared;

    long granted = NEVER;
    long token = -1;

    /** The last instant at which the lease was certainly valid: {@link #granted} or later. */
    long validUntil = NEVER;

    long release = NEVER;
    long released = NEVER;
    long lost = NEVER;
    long refused = NEVER;
    String why = "";

    /** The thread that may lock it again; empty if any thread may use the lease. */
    final String owner;

    /** How many times the owner has locked it without an unlock. */
    private int depth = 1;

    /** The contradictions between the events themselves. */
    final List<String> contradictions = new ArrayList<>(0);

    private Operation(Event ask) {
        id = ask.who();
        process = ask.process();
        lock = ask.text("lock");
        asked = ask.nanos();
        wait = ask.number("wait", NEVER);
        lease = ask.number("lease", NEVER);
        weight = ask.number("weight", 1);
        capacity = ask.number("capacity", 1);
        shared = "true".equals(ask.details().get("shared"));
        owner = ask.details().getOrDefault("owner", "");
    }

    /**
     * Returns whether its lease was seen valid after the grant; otherwise it may have been over when its owner received
     * it.
     */
    boolean wasSeenValid() {
        return wasGranted() && validUntil > granted;
    }

    boolean wasGranted() {
        return granted != NEVER;
    }

    long outcome() {
        return Math.min(granted, refused);
    }

    /** Returns the first recorded sign of the end of its lease; {@link #NEVER} if there is none. */
    long end() {
        return Math.min(Math.min(release, lost), released);
    }

    /** Returns whether its lease excludes all others. */
    boolean isExclusive() {
        return weight >= capacity;
    }

    /** Returns all operations, in the order in which they asked. */
    static List<Operation> of(History history, List<String> violations) {
        Map<String, Operation> operations = new LinkedHashMap<>();
        for (Event event : history.events()) {
            switch (event.kind()) {
                case ASK -> {
                    if (operations.put(event.who(), new Operation(event)) != null) {
                        violations.add(event.who() + " asked twice");
                    }
                }
                case GRANTED, REFUSED, VALID, AGAIN, UNLOCKED, RELEASE, RELEASED, LOST -> {
                    Operation operation = operations.get(event.who());
                    if (operation == null) {
                        violations.add(event.who() + ": \"" + event.line() + "\" without having asked");
                    } else {
                        operation.take(event);
                    }
                }
                default -> {}
            }
        }
        operations.values().forEach(operation -> operation.contradictions.forEach(violations::add));
        return List.copyOf(operations.values());
    }

    private void take(Event event) {
        long now = event.nanos();
        switch (event.kind()) {
            case GRANTED -> {
                settle(now);
                granted = now;
                validUntil = now;
                token = event.number("token", -1);
            }
            case REFUSED -> {
                settle(now);
                refused = now;
                why = event.text("why");
            }
            case VALID -> {
                if (!wasGranted()) {
                    contradictions.add(this + " is valid without having been granted");
                } else if (now > end()) {
                    contradictions.add(this + " was valid again " + millis(now - end()) + " ms after its end");
                } else {
                    validUntil = Math.max(validUntil, now);
                }
            }
            case AGAIN -> {
                reentered(event, 1);
                if (event.number("token", token) != token) {
                    contradictions.add(this + " was locked again with token " + event.text("token"));
                }
            }
            case UNLOCKED -> reentered(event, -1);
            case RELEASE -> {
                if (depth > 1 && release == NEVER && lost == NEVER) {
                    contradictions.add(this + " was released while it was locked " + depth + " times");
                }
                release = Math.min(release, now);
            }
            case RELEASED -> {
                released = Math.min(released, now);
                if (release != NEVER && wasGranted()) {
                    // The release succeeded, so the lease was valid when it began.
                    validUntil = Math.max(validUntil, release);
                }
            }
            default -> lost = Math.min(lost, now);
        }
    }

    /** Counts that the owner locked or unlocked while it held the lock: one up or one down. */
    private void reentered(Event event, int by) {
        String what = by > 0 ? "locked again" : "unlocked";
        if (!wasGranted() || event.nanos() > Math.min(release, released)) {
            contradictions.add(this + " was " + what + " while it was not held");
        } else if (event.nanos() > lost && by > 0) {
            contradictions.add(this + " was locked again after its loss");
        }
        String who = event.details().getOrDefault("owner", owner);
        if (!who.equals(owner)) {
            contradictions.add(this + " of " + owner + " was " + what + " by " + who);
        }
        depth += by;
        if (depth < 1 || event.number("depth", depth) != depth) {
            contradictions.add(this + " was " + what + " and counts " + event.number("depth", depth) + " (expected: "
                    + Math.max(1, depth) + ")");
        }
    }

    private void settle(long now) {
        if (outcome() != NEVER) {
            contradictions.add(this + " had two outcomes, the second at " + now);
        }
    }

    static long millis(long nanos) {
        return nanos / 1_000_000;
    }

    @Override
    public String toString() {
        return id + " for " + lock + (token >= 0 ? " with token " + token : "");
    }
}
