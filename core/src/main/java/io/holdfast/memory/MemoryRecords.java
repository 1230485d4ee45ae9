package io.holdfast.memory;

import io.holdfast.spi.RecordStore;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/** The records of work that is done once, as one client of a {@link MemoryLockStore.Server} sees them. */
record MemoryRecords(MemoryLockStore.Server server) implements RecordStore {

    private record Kept(String text, long untilNanos) {}

    /** The records of a server. All methods are called under its lock. */
    static final class Table {

        private static final int SWEEP_ABOVE = 1_000;

        private final Map<String, Kept> records = new HashMap<>();
        private int sweepAbove = SWEEP_ABOVE;

        Optional<String> find(String name, long now) {
            Kept kept = records.get(name);
            return kept == null || kept.untilNanos - now <= 0 ? Optional.empty() : Optional.of(kept.text);
        }

        void put(String name, String text, long now, Duration keepFor) {
            records.put(name, new Kept(text, now + keepFor.toNanos()));
            if (records.size() > sweepAbove) {
                records.values().removeIf(kept -> kept.untilNanos - now <= 0);
                sweepAbove = Math.max(SWEEP_ABOVE, 2 * records.size());
            }
        }
    }

    @Override
    public CompletionStage<Optional<String>> find(String name) {
        return server.onRecords(table -> table.find(name, server.nanoTime()));
    }

    @Override
    public CompletionStage<Boolean> keep(String name, String holderId, String text, Duration keepFor) {
        return server.onRecords(table -> {
            long now = server.nanoTime();
            if (server.isHeldBy(name, holderId)) {
                table.put(name, text, now, keepFor);
                return true;
            }
            // Perhaps the repetition of a command that was executed.
            return table.find(name, now).filter(text::equals).isPresent();
        });
    }
}
