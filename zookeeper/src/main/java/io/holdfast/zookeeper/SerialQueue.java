package io.holdfast.zookeeper;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Runs asynchronous work one piece at a time, in the order of the calls: a piece begins when the piece before it is
 * complete. So the data of the work needs no lock. No thread waits: a piece runs on the calling thread, or on the
 * thread that completed the piece before.
 */
final class SerialQueue {

    private static final System.Logger LOG = System.getLogger("io.holdfast.zookeeper");

    private final AtomicReference<CompletableFuture<?>> last =
            new AtomicReference<>(CompletableFuture.completedFuture(true));

    <T> CompletableFuture<T> add(Supplier<? extends CompletionStage<T>> work) {
        CompletableFuture<T> done = new CompletableFuture<>();
        CompletionStage<?> before = last.getAndSet(done);
        before.whenComplete((value, error) -> run(work, done));
        return done;
    }

    /** Adds work whose outcome nobody waits for; an error is only logged. */
    void addEvent(Supplier<? extends CompletionStage<Boolean>> work) {
        CompletionStage<Boolean> done = add(work);
        done.whenComplete((value, error) -> {
            if (error != null) {
                LOG.log(
                        System.Logger.Level.DEBUG,
                        "handling an event failed; the next poll or renewal makes up for it",
                        error);
            }
        });
    }

    /** Adds work that waits for no answer. */
    void addTask(Runnable task) {
        addEvent(() -> {
            task.run();
            return CompletableFuture.completedFuture(true);
        });
    }

    private static <T> void run(Supplier<? extends CompletionStage<T>> work, CompletableFuture<T> done) {
        CompletionStage<T> running;
        try {
            running = work.get();
        } catch (Throwable e) {
            done.completeExceptionally(e);
            return;
        }
        running.whenComplete((@Nullable T value, @Nullable Throwable error) -> {
            if (error != null) {
                done.completeExceptionally(ZooKeeperErrors.unwrap(error));
            } else {
                done.complete(value);
            }
        });
    }
}
