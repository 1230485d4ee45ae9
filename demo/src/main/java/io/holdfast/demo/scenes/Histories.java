package io.holdfast.demo.scenes;

import io.holdfast.history.Event;
import io.holdfast.history.Event.Kind;
import io.holdfast.history.Findings;
import io.holdfast.history.History;
import io.holdfast.history.HistoryChecker;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;

/** What the processes record of their locks, each in a file of its own, and what was done to them. Thread-safe. */
final class Histories implements AutoCloseable {

    private final Path folder;
    private final List<Event> done = new CopyOnWriteArrayList<>();

    Histories() throws IOException {
        folder = Files.createTempDirectory("holdfast-demo");
    }

    /** Where a process writes. */
    Path file(WorkerProcess worker) {
        return folder.resolve(worker.id());
    }

    /** The process is about to be killed. */
    void dies(WorkerProcess worker) {
        done.add(Event.of(System.nanoTime(), Kind.DIED, worker.id()));
    }

    /** Checks what was recorded of one lock. */
    Findings check(String lock, Duration lease) throws IOException {
        List<Event> all = new ArrayList<>(done);
        try (Stream<Path> files = Files.list(folder)) {
            all.addAll(History.read(files.toList()).events());
        }
        Set<String> uses = new HashSet<>();
        for (Event event : all) {
            if (event.kind() == Kind.ASK && event.text("lock").equals(lock)) {
                uses.add(event.who());
            }
        }
        all.removeIf(event -> event.kind() != Kind.DIED && !uses.contains(event.who()));
        return HistoryChecker.builder().lease(lease.toNanos()).build().check(new History(all));
    }

    @Override
    public void close() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
        }
        Files.delete(folder);
    }
}
