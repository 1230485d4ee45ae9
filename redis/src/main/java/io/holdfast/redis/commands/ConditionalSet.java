package io.holdfast.redis.commands;

import java.util.concurrent.CompletionStage;

/** Sets value and expiry of a key if it has a certain value, in one step of the server. */
public interface ConditionalSet {

    /**
     * Sets the key, always with an expiry.
     *
     * @return whether this execution set it; false if the key has another value or is not there
     */
    CompletionStage<Boolean> set(String key, String expected, String value, long millis);
}
