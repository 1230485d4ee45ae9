package io.holdfast.log;

import io.holdfast.spi.EngineLog;
import java.util.ResourceBundle;
import org.jspecify.annotations.Nullable;

/**
 * Holds the one logger of the lock engine, so that an operator has one name to set. {@code LockClient} writes all lines:
 * {@code java.util.logging} prints the calling class in place of the logger's name, and the logger has the name of that
 * class.
 */
public final class Log {

    public static final System.Logger LOG = new ByClient();

    private static volatile Writer writer = (log, level, line, stack, values) -> {
        if (values == null) {
            log.log(level, line, stack);
        } else {
            log.log(level, line, values);
        }
    };

    private Log() {}

    /** Writes one line from the class that a log shows as its source. */
    @FunctionalInterface
    public interface Writer {

        /**
         * Writes a line.
         *
         * @param values those of the pattern in the line; null for a line with a stack, or with neither
         */
        void write(
                System.Logger log,
                System.Logger.Level level,
                String line,
                @Nullable Throwable stack,
                @Nullable Object @Nullable [] values);
    }

    /** Lets this writer write all further lines. */
    public static void writeBy(Writer newWriter) {
        writer = newWriter;
    }

    private record ByClient() implements System.Logger {

        @Override
        public String getName() {
            return EngineLog.NAME;
        }

        @Override
        public boolean isLoggable(Level level) {
            return EngineLog.logger().isLoggable(level);
        }

        @Override
        public void log(Level level, @Nullable ResourceBundle texts, String line, @Nullable Throwable stack) {
            writer.write(EngineLog.logger(), level, line, stack, null);
        }

        @Override
        public void log(Level level, @Nullable ResourceBundle texts, String line, @Nullable Object... values) {
            writer.write(EngineLog.logger(), level, line, null, values);
        }
    }
}
