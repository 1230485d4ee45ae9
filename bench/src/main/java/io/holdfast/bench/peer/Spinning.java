package io.holdfast.bench.peer;

import static java.util.Objects.requireNonNull;

import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/** A hand-written lock: it asks again every millisecond, and gives each acquisition a holder id of its own. */
abstract class Spinning implements Handle {

    private static final long RETRY_NANOS = 1_000_000;

    /** Deletes the key if it has the value. */
    static final String COMPARE_AND_DELETE =
            "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";

    private final String id = "hf-" + UUID.randomUUID().toString().substring(0, 18);
    private final AtomicLong holders = new AtomicLong();
    private final Map<String, String> held = new ConcurrentHashMap<>();

    @Override
    public final void lock(String name) {
        while (!tryLock(name)) {
            LockSupport.parkNanos(RETRY_NANOS);
        }
    }

    @Override
    public final boolean tryLock(String name) {
        String holder = newHolder();
        boolean taken = take(name, holder);
        if (taken) {
            held.put(name, holder);
        }
        return taken;
    }

    @Override
    public final void unlock(String name) {
        release(name, requireNonNull(held.remove(name)));
    }

    abstract boolean take(String name, String holder);

    abstract void release(String name, String holder);

    final String newHolder() {
        return id + ":" + holders.incrementAndGet();
    }

    /** Returns the names that are held now, each with its holder. */
    final Map<String, String> held() {
        return held;
    }
}
