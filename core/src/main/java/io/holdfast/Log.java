package io.holdfast;

import io.holdfast.spi.EngineLog;
import java.util.ResourceBundle;
import org.jspecify.annotations.Nullable;

/**
 * Holds the one logger of the lock engine, so that an operator has one name to set. All lines are written by {@link
 * LockClient}: {@code java.util.logging} prints the calling class in place of the logger's name, and the class has that
 * name.
 */
final class Log {

    public static final System.Logger LOG = new ByClient();

    private Log() {}

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
            LockClient.write(EngineLog.logger(), level, line, stack);
        }

        @Override
        public void log(Level level, @Nullable ResourceBundle texts, String line, @Nullable Object... values) {
            LockClient.write(EngineLog.logger(), level, line, values);
        }
    }
}
