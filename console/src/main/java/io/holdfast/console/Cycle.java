package io.holdfast.console;

import io.holdfast.ClientCard;
import java.time.Duration;
import java.util.List;

/**
 * Clients that wait for each other's locks: each step's client waits for the lock that the next step's client holds,
 * and the last one for that of the first.
 *
 * <p>It is a deadlock if each client's thread that waits is the only one that releases the client's lock. Then it lasts
 * until a wait or a lease ends, or until an operator helps. Otherwise it is possibly none: another thread of one of
 * these clients may release its lock. Only thread dumps of the processes tell.
 *
 * @param isDeadlock whether the same threads hold and wait, as the cards say
 * @see <a href="https://github.com/holdfast-lock/holdfast/blob/main/docs/seeing-locks.md#deadlocks">Deadlocks</a>
 */
public record Cycle(List<Step> steps, boolean isDeadlock) {

    /**
     * One client of a cycle.
     *
     * @param holds the lock that the client before waits for
     * @param holderId the id by which the client holds it
     * @param waitsFor the lock that the next client holds
     * @param heldFor how long the client has held its lock
     * @param waited how long the first caller has waited for the next client's lock
     */
    public record Step(
            ClientCard client, String holds, String holderId, String waitsFor, Duration heldFor, Duration waited) {}

    /** Copies the steps. */
    public Cycle {
        steps = List.copyOf(steps);
    }

    /** Returns whether the lock is part of the cycle. */
    public boolean contains(String name) {
        return steps.stream().anyMatch(step -> step.holds().equals(name));
    }

    /**
     * Returns whether all holds and waits existed at one moment: when the first of these clients was last heard of.
     * Cards are of different moments, so some cycles were never there.
     */
    boolean stoodAtOnce() {
        Duration oldest = steps.stream()
                .map(step -> step.client().heard())
                .max(Duration::compareTo)
                .orElseThrow();
        return steps.stream()
                .allMatch(step ->
                        step.heldFor().compareTo(oldest) > 0 && step.waited().compareTo(oldest) > 0);
    }

    /** Identifies the cycle in all looks: the same clients, holds and waits. */
    List<String> key() {
        return steps.stream()
                .map(step -> step.holderId() + '\n' + step.holds() + '\n' + step.waitsFor())
                .sorted()
                .toList();
    }

    /** Identifies the clients of the cycle. */
    List<String> clients() {
        return steps.stream().map(step -> step.client().id()).sorted().toList();
    }
}
