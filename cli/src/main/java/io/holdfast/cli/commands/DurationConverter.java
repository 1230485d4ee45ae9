package io.holdfast.cli.commands;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * Reads a time as people write it: {@code 500ms}, {@code 10s}, {@code 1.5m}, {@code 1h}, {@code 7d}, or ISO-8601
 * {@code PT10S}. A number without a unit means seconds, as for flock(1) and sleep(1).
 */
final class DurationConverter implements ITypeConverter<Duration> {

    private static final String EXPECTED = "seconds, or a number with a unit, such as 500ms, 10s, 2m or 1h, or PT10S";
    private static final Pattern NUMBER_AND_UNIT = Pattern.compile("(\\d+(?:\\.\\d+)?)(ms|s|m|h|d)?");
    private static final Map<String, ChronoUnit> UNITS = Map.of(
            "ms", ChronoUnit.MILLIS,
            "s", ChronoUnit.SECONDS,
            "m", ChronoUnit.MINUTES,
            "h", ChronoUnit.HOURS,
            "d", ChronoUnit.DAYS);

    /** More than anybody waits; in nanoseconds it fits a long. */
    private static final Duration LONGEST = Duration.ofDays(36_500);

    @Override
    public Duration convert(String text) {
        Duration value;
        try {
            value = parse(text.strip());
        } catch (ArithmeticException e) {
            throw tooLong(text);
        } catch (DateTimeException e) {
            throw new TypeConversionException(text + " (expected: " + EXPECTED + ")");
        }
        if (value.isNegative()) {
            throw new TypeConversionException(text + " (expected: zero or more)");
        }
        if (value.compareTo(LONGEST) > 0) {
            throw tooLong(text);
        }
        return value;
    }

    private static Duration parse(String text) {
        Matcher matcher = NUMBER_AND_UNIT.matcher(text.toLowerCase(Locale.ROOT));
        if (!matcher.matches()) {
            return Duration.parse(text);
        }
        String unit = matcher.group(2);
        Duration one = UNITS.getOrDefault(unit == null ? "s" : unit, ChronoUnit.SECONDS)
                .getDuration();
        BigDecimal nanos = new BigDecimal(matcher.group(1)).multiply(BigDecimal.valueOf(one.toNanos()));
        return Duration.ofNanos(nanos.setScale(0, RoundingMode.DOWN).longValueExact());
    }

    private static TypeConversionException tooLong(String text) {
        return new TypeConversionException(text + " (expected: at most 36500d)");
    }

    /** Returns the time as a user would write it. */
    static String format(Duration value) {
        long millis = value.toMillis();
        if (millis % 1000 != 0 || millis == 0) {
            return millis + "ms";
        }
        long seconds = millis / 1000;
        if (seconds % 3600 == 0) {
            return seconds / 3600 + "h";
        }
        return seconds % 60 == 0 ? seconds / 60 + "m" : seconds + "s";
    }
}
