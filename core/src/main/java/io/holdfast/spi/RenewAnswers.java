package io.holdfast.spi;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Receives the answers to renewals that were sent together, on any thread. It is short, does not block and does not
 * throw.
 *
 * <pre>{@code
 * store.renewAll(requests, (index, reply, error) -> {
 *     if (reply instanceof RenewReply.Gone) {
 *         lost(requests.get(index).name());
 *     }
 * });
 * }</pre>
 */
@FunctionalInterface
public interface RenewAnswers {

    /**
     * Receives the answer to one renewal: a reply or an error.
     *
     * @param index the place of the request in its list
     */
    void answered(int index, @Nullable RenewReply reply, @Nullable Throwable error);

    /** Returns the answer to a command for a single request as a stage. */
    static CompletionStage<RenewReply> single(Consumer<RenewAnswers> command) {
        CompletableFuture<RenewReply> answer = new CompletableFuture<>();
        command.accept((index, reply, error) -> {
            if (error == null) {
                answer.complete(reply);
            } else {
                answer.completeExceptionally(error);
            }
        });
        return answer;
    }
}
