package io.holdfast;

import static java.util.Objects.requireNonNull;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Holds by the time at which to look at them: a binary heap in which each hold knows its place, so that it can leave or
 * move from the middle without a search, and costs one array slot. Guarded by the lock of {@link Renewals}.
 *
 * <p>Invariants: {@code heap[i].dueIndex == i} for each hold in it, and −1 for every other hold; no hold is due before its
 * parent at {@code (i − 1) / 2}.
 */
final class DueQueue {

    private @Nullable Hold[] heap = new @Nullable Hold[16];
    private int size;
    private int order;

    int size() {
        return size;
    }

    @Nullable
    Hold first() {
        return heap[0];
    }

    /** Puts the hold in, or moves it. */
    void schedule(Hold hold, long dueNanos) {
        if (hold.dueIndex < 0) {
            if (size == heap.length) {
                heap = Arrays.copyOf(heap, 2 * size);
            }
            hold.dueIndex = size++;
        }
        hold.dueNanos = dueNanos;
        hold.dueOrder = order++;
        settle(hold);
    }

    void remove(Hold hold) {
        int hole = hold.dueIndex;
        if (hole < 0) {
            return;
        }
        hold.dueIndex = -1;
        Hold last = at(--size);
        heap[size] = null;
        if (last != hold) {
            last.dueIndex = hole;
            settle(last);
        }
    }

    /** Moves a hold from its place, where another may still stand, to the one that its time asks for. */
    private void settle(Hold hold) {
        int at = hold.dueIndex;
        while (at > 0 && isBefore(hold, at((at - 1) / 2))) {
            put(at((at - 1) / 2), at);
            at = (at - 1) / 2;
        }
        for (int child = 2 * at + 1; child < size; child = 2 * at + 1) {
            if (child + 1 < size && isBefore(at(child + 1), at(child))) {
                child++;
            }
            if (isBefore(hold, at(child))) {
                break;
            }
            put(at(child), at);
            at = child;
        }
        put(hold, at);
    }

    private static boolean isBefore(Hold one, Hold other) {
        long difference = one.dueNanos - other.dueNanos;
        return difference != 0 ? difference < 0 : one.dueOrder - other.dueOrder < 0;
    }

    private void put(Hold hold, int index) {
        heap[index] = hold;
        hold.dueIndex = index;
    }

    private Hold at(int index) {
        return requireNonNull(heap[index]);
    }
}
