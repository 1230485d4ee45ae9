package io.holdfast.spi;

import org.jspecify.annotations.Nullable;

/**
 * The destination of the lock engine's log lines: the logger {@value #NAME} of the JVM, unless a framework sends them
 * elsewhere. The JDK's own logging ends when the JVM begins to shut down, and the last lines of a client come after
 * that.
 *
 * <pre>{@code
 * EngineLog.sendTo(new MyLogger(EngineLog.NAME));
 * }</pre>
 *
 * <p>Thread-safe.
 */
public final class EngineLog {

    /** The name of the logger. */
    public static final String NAME = "io.holdfast.LockClient";

    private static final System.Logger STANDARD = System.getLogger(NAME);

    private static volatile System.Logger target = STANDARD;

    private EngineLog() {}

    /** Sends all further lines of all clients of this JVM to this logger; null: to the JVM's own. */
    public static void sendTo(System.@Nullable Logger logger) {
        target = logger == null ? STANDARD : logger;
    }

    /** Returns the logger for the next line. */
    public static System.Logger logger() {
        return target;
    }
}
