package io.holdfast.samples.recipes;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import org.jspecify.annotations.Nullable;

/** Prices of a database behind a shared cache, which readers fill and a change empties. */
final class Prices {

    /** The cache that all nodes share. */
    interface Cache {
        @Nullable
        String get(String item);

        void put(String item, String price);

        void remove(String item);
    }

    /** The database behind the cache. */
    interface Database {
        String price(String item);

        /** Refuses a token that is smaller than one that it has seen. */
        void setPrice(String item, String price, long fencingToken);
    }

    private final LockClient locks;
    private final Cache cache;
    private final Database database;

    Prices(LockClient locks, Cache cache, Database database) {
        this.locks = locks;
        this.cache = cache;
        this.database = database;
    }

    String price(String item) throws InterruptedException {
        String cached = cache.get(item);
        if (cached != null) {
            return cached;
        }
        try (Lease reading = locks.acquireRead("prices")) {
            String price = database.price(item);
            reading.ensureValid();
            cache.put(item, price);
            return price;
        }
    }

    void change(String item, String price) throws InterruptedException {
        try (Lease writing = locks.acquireWrite("prices")) {
            database.setPrice(item, price, writing.fencingToken());
            cache.remove(item);
        }
    }
}
