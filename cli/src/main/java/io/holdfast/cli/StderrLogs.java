package io.holdfast.cli;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.text.MessageFormat;
import java.util.ResourceBundle;
import org.jspecify.annotations.Nullable;

/**
 * Holdfast's log on the command line: only with {@code --debug}, on standard error. Each command says what a user must
 * know in one sentence; a log with times and class names would repeat it.
 */
public final class StderrLogs extends System.LoggerFinder {

    private static volatile boolean all;

    /** For the service loader. */
    public StderrLogs() {}

    static void showAll(boolean all) {
        StderrLogs.all = all;
        if (!all && System.getProperty("java.util.logging.config.file") == null) {
            // A driver that finds no other logging falls back to Java's, which prints on standard error.
            System.setProperty("java.util.logging.config.class", NoJavaLogging.class.getName());
        }
    }

    /** A configuration of {@code java.util.logging} without any handler. Made by its log manager. */
    public static final class NoJavaLogging {

        /** Configures nothing. */
        public NoJavaLogging() {}
    }

    /** Returns whether the log is shown, so that a command can start other processes with the same setting. */
    public static boolean showsAll() {
        return all;
    }

    @Override
    public System.Logger getLogger(String name, Module module) {
        return new StderrLogger(name);
    }

    private record StderrLogger(String name) implements System.Logger {

        @Override
        public String getName() {
            return name;
        }

        @Override
        public boolean isLoggable(Level level) {
            return all && name.startsWith("io.holdfast") && level != Level.OFF && level != Level.TRACE;
        }

        @Override
        public void log(
                Level level, @Nullable ResourceBundle bundle, @Nullable String text, @Nullable Throwable thrown) {
            if (isLoggable(level)) {
                StringWriter lines = new StringWriter();
                lines.append("holdfast: ").append(level.name().toLowerCase(java.util.Locale.ROOT));
                lines.append(": ").append(text).append(System.lineSeparator());
                if (thrown != null) {
                    thrown.printStackTrace(new PrintWriter(lines, true));
                }
                System.err.print(lines);
            }
        }

        @Override
        public void log(
                Level level, @Nullable ResourceBundle bundle, @Nullable String format, @Nullable Object... values) {
            if (isLoggable(level) && format != null) {
                boolean plain = values == null || values.length == 0;
                log(level, bundle, plain ? format : MessageFormat.format(format, values), (Throwable) null);
            }
        }
    }
}
