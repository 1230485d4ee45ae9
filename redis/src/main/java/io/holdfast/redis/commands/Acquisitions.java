package io.holdfast.redis.commands;

import io.holdfast.redis.connect.StageGuard;
import io.holdfast.spi.AcquireReply;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Supplier;

/**
 * The acquisitions of one client that are under way in the mode without scripts. Those of one id follow each other: two at
 * once could each make a token for the same hold. Thread-safe.
 */
public final class Acquisitions {

    /** By holder id; only the last of each. */
    private final ConcurrentMap<String, CompletableFuture<AcquireReply>> last = new ConcurrentHashMap<>();

    /** Begins one when those before it for this id have ended. */
    CompletionStage<AcquireReply> next(String id, Supplier<CompletionStage<AcquireReply>> acquisition) {
        CompletableFuture<AcquireReply> outcome = new CompletableFuture<>();
        CompletableFuture<AcquireReply> before = last.put(id, outcome);
        if (before == null) {
            begin(id, outcome, acquisition);
        } else {
            var unused = before.whenComplete((reply, error) -> begin(id, outcome, acquisition));
        }
        return outcome;
    }

    /** One for a new id that will begin after something else, or not at all: it counts as under way from now on. */
    CompletableFuture<AcquireReply> announce(String id) {
        CompletableFuture<AcquireReply> outcome = new CompletableFuture<>();
        last.put(id, outcome);
        return outcome;
    }

    /** Begins what was announced. */
    void begin(
            String id, CompletableFuture<AcquireReply> announced, Supplier<CompletionStage<AcquireReply>> acquisition) {
        StageGuard.begin(acquisition).whenComplete((reply, error) -> {
            last.remove(id, announced);
            if (error == null) {
                announced.complete(reply);
            } else {
                announced.completeExceptionally(error);
            }
        });
    }

    /** What was announced does not begin. */
    void cancel(String id, CompletableFuture<AcquireReply> announced) {
        last.remove(id, announced);
        announced.cancel(false);
    }

    /** Does something when nothing is under way for an id, perhaps at once. */
    void afterwards(String id, Runnable what) {
        CompletableFuture<AcquireReply> underWay = last.get(id);
        if (underWay == null) {
            what.run();
        } else {
            var unused = underWay.whenComplete((reply, error) -> what.run());
        }
    }

    int size() {
        return last.size();
    }
}
