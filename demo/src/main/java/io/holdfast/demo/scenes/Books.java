package io.holdfast.demo.scenes;

import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * What the shop knows. Each operation is atomic; reading a cell and writing it after that is not, just as with a table
 * in a database or a file. Thread-safe.
 */
final class Books {

    private final Map<String, Long> cells = new ConcurrentHashMap<>();
    private final Map<String, Queue<String>> entries = new ConcurrentHashMap<>();
    private final Map<String, Section> sections = new ConcurrentHashMap<>();
    private final Map<String, Ledger> ledgers = new ConcurrentHashMap<>();

    /** Zero if never written. */
    long read(String cell) {
        return cells.getOrDefault(cell, 0L);
    }

    void write(String cell, long value) {
        cells.put(cell, value);
    }

    void record(String book, String entry) {
        entries.computeIfAbsent(book, b -> new ConcurrentLinkedQueue<>()).add(entry);
    }

    List<String> entries(String book) {
        return List.copyOf(entries.computeIfAbsent(book, b -> new ConcurrentLinkedQueue<>()));
    }

    Section section(String name) {
        return sections.computeIfAbsent(name, n -> new Section());
    }

    Ledger ledger(String name) {
        return ledgers.computeIfAbsent(name, n -> new Ledger());
    }
}
