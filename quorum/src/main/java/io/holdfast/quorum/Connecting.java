package io.holdfast.quorum;

import io.holdfast.spi.QuorumMember;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.TimeSource;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

/** Opens members, which blocks, on threads of their own: short-lived daemons. */
final class Connecting {

    private static final long RETRY_NANOS = 1_000_000_000;

    private Connecting() {}

    static CompletableFuture<QuorumMember> start(
            Seat seat, Function<StoreContext, QuorumMember> opener, StoreContext context) {
        CompletableFuture<QuorumMember> opened = new CompletableFuture<>();
        Thread thread = new Thread(
                () -> {
                    try {
                        opened.complete(opener.apply(context));
                    } catch (Throwable e) {
                        opened.completeExceptionally(e);
                    }
                },
                "holdfast-connect " + seat.description);
        thread.setDaemon(true);
        thread.start();
        return opened;
    }

    /** Completes when so many have succeeded; never if so many do not. */
    static CompletableFuture<?> successes(List<CompletableFuture<QuorumMember>> opening, int needed) {
        CompletableFuture<Boolean> enough = new CompletableFuture<>();
        AtomicInteger successes = new AtomicInteger();
        for (CompletionStage<QuorumMember> future : opening) {
            future.thenAccept(member -> {
                if (successes.incrementAndGet() == needed) {
                    enough.complete(true);
                }
            });
        }
        return enough;
    }

    /** Goes on trying until it succeeds, or until nobody wants it any more. */
    static void until(
            TimeSource time,
            CompletionStage<QuorumMember> opening,
            Supplier<? extends CompletionStage<QuorumMember>> again,
            Consumer<QuorumMember> taker,
            BooleanSupplier stopped) {
        opening.whenComplete((member, error) -> {
            if (error == null) {
                taker.accept(member);
            } else if (!stopped.getAsBoolean()) {
                time.schedule(RETRY_NANOS, () -> {
                    if (!stopped.getAsBoolean()) {
                        until(time, again.get(), again, taker, stopped);
                    }
                });
            }
        });
    }

    static Throwable failure(CompletableFuture<?> failed) {
        try {
            failed.join();
            return new IllegalStateException("has not failed");
        } catch (CompletionException e) {
            return e.getCause() == null ? e : e.getCause();
        }
    }
}
