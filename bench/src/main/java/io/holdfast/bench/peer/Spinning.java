package io.holdfast.bench.peer;

import java.util.concurrent.locks.LockSupport;

/** The wait of a hand-written lock: it asks again every millisecond. */
abstract class Spinning implements Handle {

    static final long RETRY_NANOS = 1_000_000;

    /** Deletes the key if it has the value. */
    static final String COMPARE_AND_DELETE =
            "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";

    @Override
    public final void lock(String name) {
        while (!tryLock(name)) {
            LockSupport.parkNanos(RETRY_NANOS);
        }
    }

    @Override
    public abstract boolean tryLock(String name);
}
