package io.holdfast.spi;

import java.security.AccessController;
import java.security.PrivilegedAction;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Makes the threads of Holdfast and its stores: daemons that keep nothing of the thread that makes them. A thread may
 * outlive the application whose call it was made in. With that application's context class loader or inherited
 * thread-locals, the thread would keep the application in memory.
 *
 * <pre>{@code
 * DaemonThreads.unstarted("holdfast-table-close", connection::close).start();
 * Executor readers = Executors.newFixedThreadPool(4, DaemonThreads.factory("holdfast-table"));
 * }</pre>
 *
 * <p>Thread-safe.
 */
public final class DaemonThreads {

    private DaemonThreads() {}

    /**
     * Makes a thread, which the caller starts. Its context class loader is the one that loaded Holdfast, and it has no
     * inherited thread-locals.
     */
    // "removal": before Java 24 a thread keeps the classes on its maker's stack, and only this ends it.
    // "ThreadPriorityCheck": not the maker's priority, which may be low.
    @SuppressWarnings({"removal", "ThreadPriorityCheck"})
    public static Thread unstarted(String name, Runnable task) {
        return AccessController.doPrivileged((PrivilegedAction<Thread>) () -> {
            Thread thread = new Thread(null, task, name, 0, false);
            thread.setDaemon(true);
            thread.setPriority(Thread.NORM_PRIORITY);
            thread.setContextClassLoader(loader());
            return thread;
        });
    }

    /** Returns a factory of such threads, which have this name and a number: {@code name-1}, {@code name-2}. */
    public static ThreadFactory factory(String name) {
        AtomicInteger made = new AtomicInteger();
        return task -> unstarted(name + "-" + made.incrementAndGet(), task);
    }

    private static @Nullable ClassLoader loader() {
        return DaemonThreads.class.getClassLoader();
    }
}
