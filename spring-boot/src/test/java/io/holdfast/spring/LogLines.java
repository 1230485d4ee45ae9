package io.holdfast.spring;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;
import org.jspecify.annotations.Nullable;

/** Records what a class logs, as level and message, until it is closed. */
public final class LogLines extends Handler implements AutoCloseable {

    private final List<String> lines = new CopyOnWriteArrayList<>();
    private final Logger logger;
    private final @Nullable Level level;

    public LogLines(Class<?> type) {
        logger = Logger.getLogger(type.getName());
        level = logger.getLevel();
        // An application that was started before may have set the level of all loggers.
        logger.setLevel(Level.ALL);
        logger.addHandler(this);
    }

    public List<String> lines() {
        return lines;
    }

    @Override
    public void publish(LogRecord event) {
        lines.add(event.getLevel() + " " + new SimpleFormatter().formatMessage(event));
    }

    @Override
    public void flush() {}

    @Override
    public void close() {
        logger.removeHandler(this);
        logger.setLevel(level);
    }
}
