package io.holdfast.engine;

import static java.util.Objects.requireNonNull;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Holds by the time at which they are due: a heap in which each hold knows its place, so that it can leave or move from
 * the middle without a search. Guarded by the lock of {@link RenewalTimer}.
 *
 * <p>A client that holds ten thousand locks moves each of them twice for each renewal. The heap is therefore 4-ary and
 * keeps times beside holds: moving a hold reads no other hold, and takes half as many steps.
 *
 * <p>Invariants: {@code heap[i].dueIndex == i} for each hold in it, and −1 for every other hold; {@code due[i]} is the
 * time of {@code heap[i]}, and not before that of its parent at {@code (i − 1) / 4}.
 */
final class DueQueue {

    private static final int CHILDREN = 4;

    private @Nullable Hold[] heap = new @Nullable Hold[16];
    private long[] due = new long[16];
    private int size;

    int size() {
        return size;
    }

    /** Returns when the first is due; only if there is one. */
    long firstNanos() {
        return due[0];
    }

    /** Puts the hold in, or moves it. */
    void schedule(Hold hold, long dueNanos) {
        int at = hold.dueIndex;
        if (at < 0) {
            if (size == heap.length) {
                // By half only: with ten thousand holds, free places are most of what the queue takes.
                heap = Arrays.copyOf(heap, size + size / 2);
                due = Arrays.copyOf(due, size + size / 2);
            }
            at = size++;
        }
        settle(hold, dueNanos, at);
    }

    /** Takes out the first; only if there is one. */
    Hold takeFirst() {
        Hold first = requireNonNull(heap[0]);
        // Its place is known, and reading it from the hold would wait for memory.
        remove(first, 0);
        return first;
    }

    void remove(Hold hold) {
        if (hold.dueIndex >= 0) {
            remove(hold, hold.dueIndex);
        }
    }

    private void remove(Hold hold, int hole) {
        hold.dueIndex = -1;
        size--;
        Hold last = requireNonNull(heap[size]);
        heap[size] = null;
        if (last != hold) {
            settle(last, due[size], hole);
        }
    }

    /** Puts a hold at the place that its time asks for, starting from a place that is to be filled. */
    private void settle(Hold hold, long dueNanos, int from) {
        int at = from;
        for (int parent = (at - 1) / CHILDREN; at > 0 && dueNanos - due[parent] < 0; parent = (at - 1) / CHILDREN) {
            move(parent, at);
            at = parent;
        }
        for (int child = firstChild(at); child >= 0 && due[child] - dueNanos < 0; child = firstChild(at)) {
            move(child, at);
            at = child;
        }
        put(hold, dueNanos, at);
    }

    /** Returns the child that is due first, or −1 if there is none. */
    private int firstChild(int parent) {
        int first = CHILDREN * parent + 1;
        if (first >= size) {
            return -1;
        }
        int end = Math.min(size, first + CHILDREN);
        for (int child = first + 1; child < end; child++) {
            if (due[child] - due[first] < 0) {
                first = child;
            }
        }
        return first;
    }

    private void move(int from, int to) {
        put(requireNonNull(heap[from]), due[from], to);
    }

    private void put(Hold hold, long dueNanos, int at) {
        heap[at] = hold;
        due[at] = dueNanos;
        hold.dueIndex = at;
    }
}
