package io.holdfast.testkit.torture;

import io.holdfast.history.Event;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.locks.ReentrantLock;

/** Writes each event to a file at once, so that a killed process loses no event that it has recorded. Thread-safe. */
final class Recorder implements AutoCloseable {

    private final Writer out; // by lock
    private final ReentrantLock lock = new ReentrantLock();

    Recorder(Path file) throws IOException {
        out = Files.newBufferedWriter(file);
    }

    void record(Event event) {
        String line = event.line() + "\n";
        lock.lock();
        try {
            out.write(line);
            out.flush();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void close() throws IOException {
        out.close();
    }
}
