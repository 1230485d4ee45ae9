package io.holdfast.samples.recipes;

import io.holdfast.DistributedLock;
import io.holdfast.LockClient;

/** Sells no more than there is. */
final class Stock {

    /** Where the numbers are kept. */
    interface Inventory {
        int left(String item);

        void setLeft(String item, int left);
    }

    private final LockClient locks;
    private final Inventory inventory;

    Stock(LockClient locks, Inventory inventory) {
        this.locks = locks;
        this.inventory = inventory;
    }

    /** Returns false if there is not enough left. */
    boolean reserve(String item, int quantity) {
        DistributedLock lock = locks.getLock("stock:" + item);
        lock.lock();
        try {
            int left = inventory.left(item);
            if (left < quantity) {
                return false;
            }
            inventory.setLeft(item, left - quantity);
            return true;
        } finally {
            lock.unlock();
        }
    }
}
