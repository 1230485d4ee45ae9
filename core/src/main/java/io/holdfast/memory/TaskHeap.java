package io.holdfast.memory;

import static java.util.Objects.requireNonNull;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Tasks by their times, and in the order of their scheduling where these are equal: a binary heap in which each task knows
 * its place, so that a cancelled one leaves at once. Most are cancelled, and long before their time; left in, they would be
 * most of the heap. Not thread-safe.
 *
 * <p>Invariants: {@code heap[i].place == i} for each task in it, and −1 for every other task; no task is due before its
 * parent at {@code (i − 1) / 2}.
 */
final class TaskHeap {

    static class Task {
        final long dueNanos;
        final Runnable body;
        private final long order;
        private int place = -1;

        /** @param order of its scheduling; no two tasks of a heap have the same */
        Task(long dueNanos, long order, Runnable body) {
            this.dueNanos = dueNanos;
            this.order = order;
            this.body = body;
        }

        private boolean isBefore(Task other) {
            return dueNanos != other.dueNanos ? dueNanos < other.dueNanos : order < other.order;
        }
    }

    private @Nullable Task[] heap = new @Nullable Task[64];
    private int size;

    int size() {
        return size;
    }

    @Nullable
    Task first() {
        return heap[0];
    }

    void add(Task task) {
        if (size == heap.length) {
            heap = Arrays.copyOf(heap, 2 * size);
        }
        rise(task, size++);
    }

    /** Takes a task out; one that is not in it stays out. */
    void remove(Task task) {
        int hole = task.place;
        if (hole < 0) {
            return;
        }
        task.place = -1;
        Task last = at(--size);
        heap[size] = null;
        if (hole == size) {
            return;
        }
        if (hole > 0 && last.isBefore(at((hole - 1) / 2))) {
            rise(last, hole);
        } else {
            sink(last, hole);
        }
    }

    private void rise(Task task, int from) {
        int at = from;
        while (at > 0 && task.isBefore(at((at - 1) / 2))) {
            put(at((at - 1) / 2), at);
            at = (at - 1) / 2;
        }
        put(task, at);
    }

    private void sink(Task task, int from) {
        int at = from;
        for (int child = 2 * at + 1; child < size; child = 2 * at + 1) {
            if (child + 1 < size && at(child + 1).isBefore(at(child))) {
                child++;
            }
            if (task.isBefore(at(child))) {
                break;
            }
            put(at(child), at);
            at = child;
        }
        put(task, at);
    }

    private void put(Task task, int index) {
        heap[index] = task;
        task.place = index;
    }

    private Task at(int index) {
        return requireNonNull(heap[index]);
    }
}
