package io.holdfast;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;

/** What the engine logs while this is open; it is kept from the console. */
final class Warnings extends Handler implements AutoCloseable {

    private final List<String> said = new CopyOnWriteArrayList<>();
    private final Logger log = Logger.getLogger(LockClient.class.getName());
    private final @Nullable Level before = log.getLevel();

    Warnings() {
        log.setLevel(Level.WARNING);
        log.setUseParentHandlers(false);
        log.addHandler(this);
    }

    List<String> said() {
        return said;
    }

    @Override
    public void publish(LogRecord entry) {
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
