package io.holdfast.console;

import io.holdfast.ClientCard;
import java.time.Duration;
import java.util.List;

/**
 * Clients that wait for each other's locks: each step's client waits for the lock that the next step's client holds,
 * and the last one for that of the first. Such a cycle ends when a lease or a wait ends, or when an operator helps. It
 * also ends if another caller of one of these clients releases its lock: cards do not tell callers apart.
 *
 * @see <a href="https://github.com/holdfast-lock/holdfast/blob/main/docs/seeing-locks.md#deadlocks">Deadlocks</a>
 */
public record Cycle(List<Step> steps) {

    /**
     * One client of a cycle.
     *
     * @param holds the lock that the client before waits for
     * @param holderId the id by which the client holds it
     * @param waitsFor the lock that the next client holds
     * @param waited how long the first caller has waited for it
     */
    public record Step(ClientCard client, String holds, String holderId, String waitsFor, Duration waited) {}

    /** Copies the steps. */
    public Cycle {
        steps = List.copyOf(steps);
    }

    /** Returns whether the lock is part of the cycle. */
    public boolean contains(String name) {
        return steps.stream().anyMatch(step -> step.holds().equals(name));
    }

    /** Identifies the cycle in all looks: the same clients, holds and waits. */
    List<String> key() {
        return steps.stream()
                .map(step -> step.holderId() + '\n' + step.holds() + '\n' + step.waitsFor())
                .sorted()
                .toList();
    }
}
