package io.holdfast.console;

import java.time.Duration;
import java.util.Locale;

/**
 * Writes durations as short as a column needs: {@code 7.2s}, {@code 93s}, {@code 12m3s}, {@code 5h12m}, {@code 3d4h}.
 *
 * <pre>{@code
 * Ages.of(Duration.ofMillis(7_200));      // 7.2s
 * Ages.of(Duration.ofHours(76));          // 3d4h
 * }</pre>
 */
public final class Ages {

    private static final Duration EXACT = Duration.ofSeconds(10);
    private static final Duration SECONDS = Duration.ofMinutes(2);
    private static final Duration MINUTES = Duration.ofHours(2);
    private static final Duration HOURS = Duration.ofDays(2);

    private Ages() {}

    /** Returns the duration in its two largest units at most, rounded down; zero for a negative one. */
    public static String of(Duration age) {
        Duration shown = age.isNegative() ? Duration.ZERO : age;
        if (shown.compareTo(EXACT) < 0) {
            long tenths = shown.toMillis() / 100;
            return String.format(Locale.ROOT, "%d.%ds", tenths / 10, tenths % 10);
        }
        if (shown.compareTo(SECONDS) < 0) {
            return shown.toSeconds() + "s";
        }
        if (shown.compareTo(MINUTES) < 0) {
            return shown.toMinutes() + "m" + shown.toSecondsPart() + "s";
        }
        if (shown.compareTo(HOURS) < 0) {
            return shown.toHours() + "h" + shown.toMinutesPart() + "m";
        }
        return shown.toDays() + "d" + shown.toHoursPart() + "h";
    }
}
