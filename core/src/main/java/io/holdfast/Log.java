package io.holdfast;

import java.util.ResourceBundle;
import org.jspecify.annotations.Nullable;

/**
 * Holds the one logger of the lock engine, so that an operator has one name to set. All lines are written by {@link
 * LockClient}: {@code java.util.logging} prints the calling class in place of the logger's name, and the class has that
 * name.
 */
final class Log {

    public static final System.Logger LOG = new ByClient(System.getLogger("io.holdfast.LockClient"));

    private Log() {}

    private record ByClient(System.Logger log) implements System.Logger {

        @Override
        public String getName() {
            return log.getName();
        }

        @Override
        public boolean isLoggable(Level level) {
            return log.isLoggable(level);
        }

        @Override
        public void log(Level level, @Nullable ResourceBundle texts, String line, @Nullable Throwable stack) {
            LockClient.write(log, level, line, stack);
        }

        @Override
        public void log(Level level, @Nullable ResourceBundle texts, String line, @Nullable Object... values) {
            LockClient.write(log, level, line, values);
        }
    }
}
