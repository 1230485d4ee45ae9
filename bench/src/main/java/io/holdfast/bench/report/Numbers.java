package io.holdfast.bench.report;

import java.util.Collections;
import java.util.List;
import java.util.Locale;

/** Writes numbers for readers, with three significant digits. */
final class Numbers {

    private Numbers() {}

    static String text(double value) {
        if (Double.isNaN(value) || Double.isInfinite(value)) {
            return Double.isNaN(value) ? "–" : "∞";
        }
        double size = Math.abs(value);
        if (size >= 100) {
            return String.format(Locale.ROOT, "%,.0f", value);
        }
        String pattern = size >= 10 ? "%.1f" : size >= 0.01 || size == 0 ? "%.2f" : "%.4f";
        return String.format(Locale.ROOT, pattern, value).replaceFirst("\\.0+$", "");
    }

    /** Returns the median and the range: median (min–max). */
    static String cell(List<Double> values) {
        if (values.isEmpty()) {
            return "–";
        }
        String median = text(Results.median(values));
        return values.size() == 1
                ? median
                : median + " (" + text(Collections.min(values)) + "–" + text(Collections.max(values)) + ")";
    }
}
