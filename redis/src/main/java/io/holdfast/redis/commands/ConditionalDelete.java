package io.holdfast.redis.commands;

import java.util.concurrent.CompletionStage;

/** Deletes a key if it has a certain value, in one step of the server. */
public interface ConditionalDelete {

    /**
     * The result of a deletion.
     *
     * @param done whether this execution deleted the key; false if the key has another value or is not there
     * @param heard how many clients received it, if it was announced in the same step; otherwise {@link #NOT_TOLD}
     */
    record Deletion(boolean done, int heard) {
        static final int NOT_TOLD = -1;
        public static final Deletion NONE = new Deletion(false, NOT_TOLD);
    }

    /**
     * Deletes the key, and announces it to Redisson's clients if this way can do that in the same step.
     */
    CompletionStage<Deletion> delete(String key, String expected);
}
