package io.holdfast.samples.recipes;

import io.holdfast.Lease;
import io.holdfast.LockClient;

/** Lets at most three exports run at once in the fleet, on a store that has permits. */
final class Exports {

    private final LockClient locks;

    Exports(LockClient locks) {
        this.locks = locks;
    }

    Lease acquire() throws InterruptedException {
        return locks.permits("export", 3).acquire();
    }
}
