package io.holdfast.redis.connect;

import io.holdfast.spi.DaemonThreads;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

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
        // Not a CompletableFuture: in a fork-join pool that has all its threads, its join() throws instead of waiting.
        FutureTask<Thread> made = new FutureTask<>(() -> super.newThread(task, name));
        DaemonThreads.unstarted("holdfast-redis-start", made).start();
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return made.get();
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        } catch (ExecutionException e) {
            throw new IllegalStateException("The thread " + name + " was not made", e.getCause());
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
