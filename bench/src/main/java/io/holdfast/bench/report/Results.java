package io.holdfast.bench.report;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** All figures of a run: case, size, peer, figure, and one value for each round. Not thread-safe. */
public final class Results {

    /** One cell of a table. */
    public record Cell(String caseId, int size, String peer) {}

    private final Map<Cell, Map<String, List<Double>>> cells = new LinkedHashMap<>();
    private final List<String> notes = new ArrayList<>();
    private long violations;

    /** Adds the figures of one round. */
    public void add(Cell cell, Map<String, Double> figures) {
        Map<String, List<Double>> known = cells.computeIfAbsent(cell, unused -> new LinkedHashMap<>());
        figures.forEach((figure, value) ->
                known.computeIfAbsent(figure, unused -> new ArrayList<>()).add(value));
        double overlaps = figures.getOrDefault("violations", 0.0);
        if (overlaps > 0) {
            violations += (long) overlaps;
            note(cell + ": " + (long) overlaps + " OVERLAPS: two holders at once");
        }
    }

    public void note(String note) {
        notes.add(note);
    }

    public List<String> notes() {
        return List.copyOf(notes);
    }

    /** Returns how many times two threads were inside one critical section. */
    public long violations() {
        return violations;
    }

    /** Returns one value for each round; empty if the figure was not measured. */
    public List<Double> values(String caseId, int size, String peer, String figure) {
        return cells.getOrDefault(new Cell(caseId, size, peer), Map.of()).getOrDefault(figure, List.of());
    }

    /** Returns the median; NaN if the figure was not measured. */
    public double median(String caseId, int size, String peer, String figure) {
        return median(values(caseId, size, peer, figure));
    }

    /** Returns the median of the rounds' ratios; NaN if one of the figures was not measured. */
    public double ratio(String caseId, int size, String figure, String peer, String to) {
        List<Double> above = values(caseId, size, peer, figure);
        List<Double> below = values(caseId, size, to, figure);
        List<Double> ratios = new ArrayList<>();
        for (int i = 0; i < Math.min(above.size(), below.size()); i++) {
            ratios.add(above.get(i) / below.get(i));
        }
        return median(ratios);
    }

    public List<String> peers(String caseId) {
        return cells.keySet().stream()
                .filter(cell -> cell.caseId().equals(caseId))
                .map(Cell::peer)
                .distinct()
                .toList();
    }

    public Set<Integer> sizes(String caseId) {
        Set<Integer> sizes = new TreeSet<>();
        cells.keySet().stream().filter(cell -> cell.caseId().equals(caseId)).forEach(cell -> sizes.add(cell.size()));
        return Collections.unmodifiableSet(sizes);
    }

    static double median(List<Double> values) {
        double[] sorted =
                values.stream().mapToDouble(Double::doubleValue).sorted().toArray();
        if (sorted.length == 0) {
            return Double.NaN;
        }
        return Arrays.stream(sorted, (sorted.length - 1) / 2, sorted.length / 2 + 1)
                .average()
                .orElse(Double.NaN);
    }
}
