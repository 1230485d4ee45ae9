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

    /** What is wrong with the events themselves. */
    final List<String> contradictions = new ArrayList<>(0);

    private Operation(Event ask) {
        id = ask.who();
        process = ask.process();
        lock = ask.text("lock");
        asked = ask.nanos();
        wait = ask.number("wait", NEVER);
        lease = ask.number("lease", NEVER);
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
                case GRANTED, REFUSED, VALID, RELEASE, RELEASED, LOST -> {
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
            case RELEASE -> release = Math.min(release, now);
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
