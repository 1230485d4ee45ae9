package io.holdfast.demo.scenes;

import java.util.List;
import java.util.Map;

/**
 * What came out of a scene.
 *
 * @param happened in a line, for people
 * @param numbers for machines
 */
record Result(
        String name,
        String title,
        String happened,
        List<Invariant> invariants,
        Map<String, Long> numbers,
        long millis) {

    /**
     * What had to be, and whether it was.
     *
     * @param seen what was found
     */
    record Invariant(String text, boolean held, String seen) {}

    boolean held() {
        return invariants.stream().allMatch(Invariant::held);
    }
}
