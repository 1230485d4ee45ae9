package io.holdfast.demo.scenes;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What came out of a scene, while it is played. Confined to the thread that plays. */
final class Verdict {

    private final List<Result.Invariant> invariants = new ArrayList<>();
    private final Map<String, Long> numbers = new LinkedHashMap<>();
    private String happened = "";

    /**
     * @param invariant what must be, as a statement
     * @param seen what was found
     */
    void check(String invariant, boolean held, Object seen) {
        invariants.add(new Result.Invariant(invariant, held, seen.toString()));
    }

    /** The two that hold in every section that a lock guards. */
    void checkSection(Section section) {
        check("never two inside at the same time", section.mostInside() <= 1, section.mostInside() + " at once");
        check(
                "every lease had a larger fencing token than the one before",
                section.tokensOutOfOrder() == 0,
                section.tokensOutOfOrder() + " of " + section.entries() + " did not");
    }

    /** A number for machines. */
    long number(String key, long value) {
        numbers.put(key, value);
        return value;
    }

    /** The scene in a line, for people. */
    void happened(String text) {
        happened = text;
    }

    Result result(Scene scene, long millis) {
        return new Result(
                scene.name(), scene.title(), happened, List.copyOf(invariants), new LinkedHashMap<>(numbers), millis);
    }
}
