package io.holdfast.demo.scenes;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Closes what must not outlive the demonstration: at its end, or earlier when the JVM is stopped. Thread-safe.
 */
final class Cleanup implements AutoCloseable {

    private final Deque<AutoCloseable> things = new ArrayDeque<>(); // guarded by this
    private final Thread hook = new Thread(this::closeAll, "holdfast-demo-cleanup");

    Cleanup() {
        Runtime.getRuntime().addShutdownHook(hook);
    }

    synchronized <T extends AutoCloseable> T atEnd(T thing) {
        things.push(thing);
        return thing;
    }

    @Override
    public void close() {
        closeAll();
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException e) {
            // The JVM is ending, and the hook runs or has run.
        }
    }

    /** The latest first: processes before the server they use. */
    private synchronized void closeAll() {
        while (!things.isEmpty()) {
            try {
                things.pop().close();
            } catch (Exception e) {
                System.getLogger(Cleanup.class.getName()).log(System.Logger.Level.WARNING, "could not be closed", e);
            }
        }
    }
}
