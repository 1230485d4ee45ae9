package io.holdfast;

/**
 * The amount of detail that a client tells about itself at the store, for people who look at locks: see {@link
 * ClientCard}.
 *
 * <pre>{@code
 * LockClient locks = LockClient.builder()
 *         .uri("redis://127.0.0.1:6379")
 *         .clientName("billing")
 *         .cards(CardDetail.THREADS)      // tools show which thread holds a lock, and which one waits
 *         .build();
 * }</pre>
 */
public enum CardDetail {
    /**
     * Nothing. Tools show the holder ids of this client, and its connections. The client reads cards only where the
     * program asks for one, so its timeouts and its {@link LockTracer} name other holders by their ids.
     */
    OFF,
    /** The client's name, host and process id, and the names of the locks that it holds and waits for. */
    NAMES,
    /** The same, and the names of the threads that hold and wait. */
    THREADS
}
