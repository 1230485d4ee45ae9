package io.holdfast.demo.scenes;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;

/** The processes that act in the demonstration. */
final class Crew implements AutoCloseable {

    private final List<WorkerProcess> workers = new CopyOnWriteArrayList<>();

    /** Starts that many processes, and does not wait for them. */
    Crew(int size, boolean debug) throws IOException {
        for (int i = 1; i <= size; i++) {
            workers.add(WorkerProcess.start("process " + i, debug));
        }
    }

    /**
     * Tells all where the store and the shop are. Not in their command lines: a store URI may have a password in it.
     */
    List<CompletableFuture<Message>> connect(String store, int shopPort, long leaseMillis, Histories histories) {
        List<CompletableFuture<Message>> replies = new ArrayList<>();
        for (WorkerProcess worker : workers) {
            replies.add(worker.ask(
                    "connect",
                    "store",
                    store,
                    "shop",
                    shopPort,
                    "lease",
                    leaseMillis,
                    "process",
                    worker.id(),
                    "history",
                    histories.file(worker)));
        }
        return replies;
    }

    /** Those that live. */
    List<WorkerProcess> all() {
        return workers.stream().filter(WorkerProcess::isAlive).toList();
    }

    @Override
    public void close() {
        workers.forEach(WorkerProcess::close);
    }
}
