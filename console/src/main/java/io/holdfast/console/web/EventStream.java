package io.holdfast.console.web;

import org.jspecify.annotations.Nullable;

/**
 * Server-sent events for one browser. The store is read while at least one stream is open.
 *
 * @see <a href="https://github.com/holdfast-lock/holdfast/blob/main/docs/seeing-locks.md#a-page-for-browsers">
 *     A page for browsers</a>
 */
public interface EventStream extends AutoCloseable {

    /**
     * Waits for the next event and returns it as the browser reads it; null if the stream is closed. Skips pictures
     * that a newer one has replaced, so a slow browser does not delay others. Returns a comment now and then, so that
     * the adapter notices a browser that is gone.
     */
    @Nullable
    String next() throws InterruptedException;

    /** Ends the stream; a thread in {@link #next} returns. Idempotent. */
    @Override
    void close();
}
