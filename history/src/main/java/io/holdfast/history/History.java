package io.holdfast.history;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;

/**
 * Events in the order of their times; events of equal times are in the order of their recording.
 *
 * <pre>{@code
 * History history = History.read(List.of(Path.of("worker-1.history"), Path.of("worker-2.history")));
 * Findings findings = HistoryChecker.builder().build().check(history);
 * findings.violations().forEach(System.out::println);
 * }</pre>
 *
 * @param events all events
 */
public record History(List<Event> events) {

    public History {
        List<Event> sorted = new ArrayList<>(events);
        sorted.sort(Comparator.comparingLong(Event::nanos));
        events = List.copyOf(sorted);
    }

    /**
     * Reads files that were recorded on one machine as one history.
     *
     * @throws IOException if a file cannot be read, or has a line that is no event
     */
    public static History read(Collection<Path> files) throws IOException {
        List<Event> events = new ArrayList<>();
        for (Path file : files) {
            try (BufferedReader in = Files.newBufferedReader(file)) {
                long number = 0;
                for (String line = in.readLine(); line != null; line = in.readLine()) {
                    number++;
                    if (line.isBlank() || line.startsWith("#")) {
                        continue;
                    }
                    try {
                        events.add(Event.parse(line));
                    } catch (IllegalArgumentException e) {
                        throw new IOException(file + ", line " + number + ": " + e.getMessage(), e);
                    }
                }
            }
        }
        return new History(events);
    }

    /** Writes the history to a file and replaces an existing one. */
    public void write(Path file) throws IOException {
        try (BufferedWriter out = Files.newBufferedWriter(file)) {
            for (Event event : events) {
                out.write(event.line());
                out.write('\n');
            }
        }
    }
}
