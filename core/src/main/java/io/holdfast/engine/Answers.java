package io.holdfast.engine;

import io.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Waits of a caller's thread for an answer, even when interrupted. {@link CompletableFuture#join} is not enough: in a
 * {@link java.util.concurrent.ForkJoinPool} that has all the threads it may have, it throws instead of waiting, and a
 * release would fail after the work.
 */
final class Answers {

    private Answers() {}

    /**
     * Waits for the answer.
     *
     * @throws java.util.concurrent.CompletionException if the stage failed
     */
    static <T extends @Nullable Object> T await(CompletionStage<T> answer) {
        CompletableFuture<T> future = answer.toCompletableFuture();
        await(future, Duration.ofNanos(Long.MAX_VALUE));
        return future.join();
    }

    /** Waits for the end of the stage for no longer than this, in real time. */
    static void await(CompletionStage<? extends @Nullable Object> stage, Duration atMost) {
        CountDownLatch ended = new CountDownLatch(1);
        stage.whenComplete((value, why) -> ended.countDown());
        TimeSource time = TimeSource.system();
        long end = time.nanoTime() + atMost.toNanos();
        boolean interrupted = false;
        while (true) {
            try {
                var unused = ended.await(end - time.nanoTime(), TimeUnit.NANOSECONDS);
                break;
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
