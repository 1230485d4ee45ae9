package io.holdfast.engine;

import io.holdfast.LockClient;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;

/** Records what the engine logs while this is open, and keeps it from the console. */
public class Warnings extends Handler implements AutoCloseable {

    private final List<String> said = new CopyOnWriteArrayList<>();
    private final List<LogRecord> entries = new CopyOnWriteArrayList<>();
    private final Logger log = Logger.getLogger(LockClient.class.getName());
    private final @Nullable Level before = log.getLevel();

    public Warnings() {
        this(Level.WARNING);
    }

    /** @param least the level below which nothing is recorded */
    public Warnings(Level least) {
        log.setLevel(least);
        log.setUseParentHandlers(false);
        log.addHandler(this);
    }

    public List<String> said() {
        return said;
    }

    /** Returns the lines that contain a text. */
    public List<String> said(String part) {
        return said.stream().filter(line -> line.contains(part)).toList();
    }

    /** Returns the lines of one level that contain a text. */
    public List<String> said(Level level, String part) {
        return entries.stream()
                .filter(entry ->
                        entry.getLevel().equals(level) && entry.getMessage().contains(part))
                .map(LogRecord::getMessage)
                .toList();
    }

    /** Returns the stacks that were logged with a line. */
    public List<Throwable> stacks() {
        return entries.stream()
                .map(LogRecord::getThrown)
                .filter(Objects::nonNull)
                .toList();
    }

    /** Returns the classes that {@code java.util.logging} prints as the source of the lines. */
    public List<String> sources() {
        return entries.stream().map(LogRecord::getSourceClassName).toList();
    }

    @Override
    public void publish(LogRecord entry) {
        entry.getSourceClassName(); // it is found by the stack of this call

        entries.add(entry);
        said.add(entry.getMessage());
    }

    @Override
    public void flush() {}

    @Override
    public void close() {
        log.removeHandler(this);
        log.setUseParentHandlers(true);
        log.setLevel(before);
    }
}
