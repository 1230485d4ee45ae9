package io.holdfast.samples.recipes;

import static java.time.Duration.ofSeconds;

import io.holdfast.LockClient;
import io.holdfast.LockException;
import io.holdfast.LockOptions;
import org.jspecify.annotations.Nullable;

/** Loads a value that is missing in a shared cache on one node, while the others wait for it. */
final class SharedCache {

    /** The cache that all nodes share. */
    interface Cache {
        @Nullable
        String get(String key);

        void put(String key, String value);
    }

    /** The slow system behind the cache. */
    interface Source {
        String load(String key);
    }

    private final LockClient locks;
    private final Cache cache;
    private final Source source;

    SharedCache(LockClient locks, Cache cache, Source source) {
        this.locks = locks;
        this.cache = cache;
        this.source = source;
    }

    String get(String key) throws InterruptedException {
        String cached = cache.get(key);
        if (cached != null) {
            return cached;
        }
        try {
            return locks.call("cache:" + key, LockOptions.defaults().waitAtMost(ofSeconds(2)), lease -> {
                String value = cache.get(key); // loaded by another node meanwhile?
                if (value == null) {
                    value = source.load(key);
                    cache.put(key, value);
                }
                return value;
            });
        } catch (LockException e) {
            return source.load(key); // the cache must not fail because the lock does
        }
    }
}
