package io.holdfast.history;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** One use of a lock, put together from its events. Times are {@link #NEVER} where nothing was recorded. */
final class Operation {

    static final long NEVER = Long.MAX_VALUE;

    final String id;
    final String process;
    final String lock;
    final long asked;

    /** How long it was to wait at most; {@link #NEVER} without limit. */
    final long wait;

    /** The fixed length of its lease; {@link #NEVER} if it was renewed. */
    final long lease;

    long granted = NEVER;
    long token = -1;

    /** The last instant at which the lease was certainly valid: {@link #granted} or later. */
    long validUntil = NEVER;

    long release = NEVER;
    long released = NEVER;
    long lost = NEVER;
    long refused = NEVER;
    String why = "";

    /** Who may lock it again; empty if whoever has the lease. */
    final String owner;

    /** How often its owner has locked it, and not unlocked it. */
    private int depth = 1;

    /** What is wrong with the events themselves. */
    final List<String> contradictions = new ArrayList<>(0);

    private Operation(Event ask) {
        id = ask.who();
        process = ask.process();
        lock = ask.text("lock");
        asked = ask.nanos();
        wait = ask.number("wait", NEVER);
        lease = ask.number("lease", NEVER);
        owner = ask.details().getOrDefault("owner", "");
    }

    /** Whether its lease was valid after it had reached its owner: one that came too late says nothing. */
    boolean wasSeenValid() {
        return wasGranted() && validUntil > granted;
    }

    boolean wasGranted() {
        return granted != NEVER;
    }

    long outcome() {
        return Math.min(granted, refused);
    }

    /** The first instant at which somebody has reason to think that the lease is over; {@link #NEVER} if none. */
    long end() {
        return Math.min(Math.min(release, lost), released);
    }

    /** All operations, in the order in which they asked. */
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
                    // Releasing succeeded, so the lease was valid when that began.
                    validUntil = Math.max(validUntil, release);
                }
            }
            default -> lost = Math.min(lost, now);
        }
    }

    /** Locked or unlocked by the owner while it holds: the mutex's own count, one up or one down. */
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
