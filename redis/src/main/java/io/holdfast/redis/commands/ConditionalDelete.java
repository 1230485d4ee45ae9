package io.holdfast.redis.commands;

import java.util.concurrent.CompletionStage;

/** Deletes a key if it has a certain value, in one step of the server. */
public interface ConditionalDelete {

    /**
     * What became of it.
     *
     * @param done whether this very execution deleted the key; false if it has another value or is not there
     * @param heard how many heard of it, if that was told in the same step; else {@link #NOT_TOLD}
     */
    record Deletion(boolean done, int heard) {
        static final int NOT_TOLD = -1;
        public static final Deletion NONE = new Deletion(false, NOT_TOLD);
    }

    /**
     * Deletes.
     *
     * @param channel where to tell of it, in the same step if this way can
     */
    CompletionStage<Deletion> delete(String key, String expected, String channel);
}
