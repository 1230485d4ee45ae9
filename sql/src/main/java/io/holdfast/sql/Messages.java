package io.holdfast.sql;

import io.holdfast.spi.AcquireRequest;
import java.util.concurrent.CompletionStage;

/** How this client learns of grants, of waiters behind its holds and of releases by force. */
interface Messages extends AutoCloseable {

    /** Begins to listen, before the first acquire is sent. The stage ends when it does, or when it cannot yet. */
    CompletionStage<Boolean> start();

    /** Takes note of an entry in the queue. */
    void waiting(AcquireRequest request, boolean pool, Row stampedIn, int ahead);

    /** Takes note that an entry has left the queue, or holds. */
    void served(String holderId);

    @Override
    void close();
}
