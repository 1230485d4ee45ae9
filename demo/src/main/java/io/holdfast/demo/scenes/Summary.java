package io.holdfast.demo.scenes;

import io.holdfast.console.json.Json;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** What came out of the demonstration. */
public final class Summary {

    private final String store;
    private final List<Result> results;
    private final long millis;

    Summary(String store, List<Result> results, long millis) {
        this.store = store;
        this.results = List.copyOf(results);
        this.millis = millis;
    }

    /** Returns whether every invariant held. */
    public boolean held() {
        return results.stream().allMatch(Result::held);
    }

    /** A table for people; below it every invariant that did not hold. */
    public void print(PrintWriter out) {
        out.println();
        out.printf("%-12s  %-6s  %6s  %s%n", "SCENE", "RESULT", "TIME", "WHAT HAPPENED");
        for (Result result : results) {
            out.printf(
                    Locale.ROOT,
                    "%-12s  %-6s  %4.1f s  %s%n",
                    result.name(),
                    result.held() ? "ok" : "FAILED",
                    result.millis() / 1e3,
                    result.happened().isEmpty() ? "broke off" : result.happened());
            for (Result.Invariant invariant : result.invariants()) {
                if (!invariant.held()) {
                    out.printf("%30s! NOT HELD: %s (seen: %s)%n", "", invariant.text(), invariant.seen());
                }
            }
        }
        long all =
                results.stream().mapToLong(result -> result.invariants().size()).sum();
        out.println();
        out.printf(
                Locale.ROOT,
                "%s on %s, in %.1f s.%n",
                broken() == 0
                        ? "All " + all + " invariants held"
                        : broken() + " of " + all + " invariants did NOT hold",
                store,
                millis / 1e3);
        out.flush();
    }

    /** The same and more for machines, as one JSON object. */
    public void printJson(PrintWriter out) {
        List<Object> scenes = new ArrayList<>();
        for (Result result : results) {
            List<Object> invariants = new ArrayList<>();
            for (Result.Invariant invariant : result.invariants()) {
                invariants.add(
                        Json.object("text", invariant.text(), "held", invariant.held(), "seen", invariant.seen()));
            }
            scenes.add(Json.object(
                    "name", result.name(),
                    "title", result.title(),
                    "held", result.held(),
                    "millis", result.millis(),
                    "happened", result.happened(),
                    "numbers", result.numbers(),
                    "invariants", invariants));
        }
        out.println(Json.text(
                Json.object("held", held(), "broken", broken(), "store", store, "millis", millis, "scenes", scenes)));
        out.flush();
    }

    private long broken() {
        return results.stream()
                .flatMap(result -> result.invariants().stream())
                .filter(invariant -> !invariant.held())
                .count();
    }
}
