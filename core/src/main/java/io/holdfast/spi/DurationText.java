package io.holdfast.spi;

import java.math.BigDecimal;
import java.time.Duration;
import java.time.temporal.ChronoUnit;

/**
 * Writes durations for people, in the one form of all messages: {@code 300 ms}, {@code 2 s}, {@code 1.5 s}, {@code 1
 * min 30 s}, {@code 365 d}.
 *
 * <pre>{@code
 * DurationText.of(Duration.ofMillis(1_500));               // 1.5 s
 * DurationText.of(Duration.ofSeconds(90));                 // 1 min 30 s
 * DurationText.rounded(Duration.ofNanos(12_345_678));      // 12 ms
 * }</pre>
 */
public final class DurationText {

    private static final Duration LONG = Duration.ofSeconds(10);
    private static final int NANOS_OF_MILLI = 6; // decimals
    private static final int NANOS_OF_SECOND = 9; // decimals

    private DurationText() {}

    /** Returns the exact duration, for limits: a value just above the limit must not read like the limit. */
    public static String of(Duration duration) {
        if (duration.isNegative()) {
            return "-" + of(duration.negated());
        }
        if (duration.toSeconds() == 0) {
            return decimal(duration.toNanosPart(), NANOS_OF_MILLI) + " ms";
        }
        StringBuilder text = new StringBuilder();
        add(text, duration.toDays(), "d");
        add(text, duration.toHoursPart(), "h");
        add(text, duration.toMinutesPart(), "min");
        long nanos = duration.toSecondsPart() * 1_000_000_000L + duration.toNanosPart();
        if (nanos != 0) {
            add(text, decimal(nanos, NANOS_OF_SECOND), "s");
        }
        return text.toString();
    }

    /** Returns a rounded duration, for measurements: in whole milliseconds, from ten seconds on in whole seconds. */
    public static String rounded(Duration duration) {
        return of(duration.truncatedTo(duration.compareTo(LONG) < 0 ? ChronoUnit.MILLIS : ChronoUnit.SECONDS));
    }

    private static void add(StringBuilder text, long amount, String unit) {
        if (amount != 0) {
            add(text, Long.toString(amount), unit);
        }
    }

    private static void add(StringBuilder text, String amount, String unit) {
        if (!text.isEmpty()) {
            text.append(' ');
        }
        text.append(amount).append(' ').append(unit);
    }

    private static String decimal(long nanos, int decimals) {
        return BigDecimal.valueOf(nanos, decimals).stripTrailingZeros().toPlainString();
    }
}
