package io.holdfast.zookeeper;

import io.holdfast.spi.TimeSource;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Answers commands that the servers leave unanswered for too long: their outcome is unknown. A command that was sent goes on.
 * All have the same time, so they end in the order of their beginning, and one timer serves them.
 */
final class CommandTimeouts {

    private record Pending(CompletableFuture<?> answer, long endNanos) {}

    private final TimeSource time;
    private final long nanos;
    private final ZooKeeperErrors errors;
    private final ReentrantLock lock = new ReentrantLock();
    private final ArrayDeque<Pending> pending = new ArrayDeque<>(); // by lock
    private boolean armed; // by lock

    CommandTimeouts(TimeSource time, Duration timeout, ZooKeeperErrors errors) {
        this.time = time;
        this.nanos = timeout.toNanos();
        this.errors = errors;
    }

    /** Returns a stage that ends as the given one, or in time, with an error that the engine and people understand. */
    <T> CompletableFuture<T> bound(CompletionStage<T> command) {
        CompletableFuture<T> answer = new CompletableFuture<>();
        command.whenComplete((@Nullable T value, @Nullable Throwable error) -> {
            if (error != null) {
                answer.completeExceptionally(errors.of(error));
            } else {
                answer.complete(value);
            }
        });
        if (!answer.isDone()) {
            watch(answer);
        }
        return answer;
    }

    private void watch(CompletableFuture<?> answer) {
        lock.lock();
        try {
            while (!pending.isEmpty() && pending.element().answer().isDone()) {
                pending.remove();
            }
            pending.add(new Pending(answer, time.nanoTime() + nanos));
            if (!armed) {
                arm(nanos);
            }
        } finally {
            lock.unlock();
        }
    }

    private void arm(long delayNanos) {
        armed = true;
        time.schedule(delayNanos, this::run);
    }

    private void run() {
        ArrayDeque<CompletableFuture<?>> over = new ArrayDeque<>();
        lock.lock();
        try {
            armed = false;
            long now = time.nanoTime();
            while (!pending.isEmpty()
                    && (pending.element().answer().isDone() || pending.element().endNanos() - now <= 0)) {
                over.add(pending.remove().answer());
            }
            if (!pending.isEmpty()) {
                arm(pending.element().endNanos() - now);
            }
        } finally {
            lock.unlock();
        }
        over.forEach(answer -> answer.completeExceptionally(errors.late()));
    }
}
