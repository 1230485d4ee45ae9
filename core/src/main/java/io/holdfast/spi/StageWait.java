package io.holdfast.spi;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ForkJoinWorkerThread;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Waits of a caller's thread for a step of a store, such as a step of its opening. {@link CompletableFuture#get} is not
 * enough: in a {@link java.util.concurrent.ForkJoinPool} that has all the threads it may have, it throws {@link
 * java.util.concurrent.RejectedExecutionException} instead of waiting.
 *
 * <pre>{@code
 * String answer = StageWait.await(connection.ping(), Duration.ofSeconds(2));
 * }</pre>
 */
public final class StageWait {

    private StageWait() {}

    /**
     * Waits until the stage has ended, in real time.
     *
     * @return its value
     * @throws ExecutionException if the stage failed; its cause is why
     * @throws TimeoutException if the stage has not ended within that time
     * @throws InterruptedException if the calling thread is interrupted while it waits
     * @throws java.util.concurrent.CancellationException if the stage was cancelled
     */
    public static <T extends @Nullable Object> T await(CompletionStage<T> stage, Duration atMost)
            throws InterruptedException, ExecutionException, TimeoutException {
        CompletableFuture<T> future = stage.toCompletableFuture();
        CountDownLatch ended = new CountDownLatch(1);
        stage.whenComplete((value, why) -> ended.countDown());
        if (!ended.await(atMost.toNanos(), TimeUnit.NANOSECONDS)) {
            throw new TimeoutException();
        }
        return future.get();
    }

    /**
     * Waits until the stage has ended, and returns its value. An interrupt does not end the wait, and stays set after
     * it.
     *
     * @throws java.util.concurrent.CompletionException if the stage failed; its cause is why
     * @throws java.util.concurrent.CancellationException if the stage was cancelled
     */
    public static <T extends @Nullable Object> T join(CompletionStage<T> stage) {
        CompletableFuture<T> future = stage.toCompletableFuture();
        // Other threads can wait for the future alone, which costs less than a latch.
        if (Thread.currentThread() instanceof ForkJoinWorkerThread) {
            awaitUninterruptibly(future, Duration.ofNanos(Long.MAX_VALUE));
        }
        return future.join();
    }

    /**
     * Waits until the stage has ended, or for this time, in real time. An interrupt does not end the wait, and stays
     * set after it.
     */
    public static void awaitUninterruptibly(CompletionStage<? extends @Nullable Object> stage, Duration atMost) {
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
