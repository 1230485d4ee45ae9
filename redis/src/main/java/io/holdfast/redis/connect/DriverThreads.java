package io.holdfast.redis.connect;

import io.holdfast.spi.DaemonThreads;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.util.concurrent.CompletableFuture;

/**
 * Makes the driver's threads on a thread of Holdfast. They are of the driver's own class, and inherit the context class
 * loader and the thread-locals of the thread that makes them: usually a caller's.
 */
final class DriverThreads extends DefaultThreadFactory {

    DriverThreads(String pool) {
        super("holdfast-redis-" + pool.replaceFirst("^lettuce-", ""), true);
    }

    @Override
    protected Thread newThread(Runnable task, String name) {
        CompletableFuture<Thread> made = new CompletableFuture<>();
        Runnable make = () -> {
            try {
                made.complete(super.newThread(task, name));
            } catch (Throwable e) {
                made.completeExceptionally(e);
            }
        };
        DaemonThreads.unstarted("holdfast-redis-start", make).start();
        return made.join();
    }
}
