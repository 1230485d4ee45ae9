package io.holdfast.samples.recipes;

import io.holdfast.LockClient;

/** Runs a job that every node schedules on one node at a time. */
final class OnOneNode {

    private final LockClient locks;
    private final Runnable cleanup;

    OnOneNode(LockClient locks, Runnable cleanup) {
        this.locks = locks;
        this.cleanup = cleanup;
    }

    /** Called by the scheduler of every node. Returns false if another node runs the job now. */
    boolean tick() {
        return locks.tryRun("job:cleanup", lease -> cleanup.run());
    }
}
