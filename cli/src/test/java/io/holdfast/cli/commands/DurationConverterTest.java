package io.holdfast.cli.commands;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.TypeConversionException;

class DurationConverterTest {

    @ParameterizedTest
    @CsvSource({
        "500ms, PT0.5S",
        "10s, PT10S",
        "2m, PT2M",
        "1h, PT1H",
        "7d, PT168H",
        "0, PT0S",
        "10, PT10S",
        "0.5, PT0.5S",
        "1.5s, PT1.5S",
        "0.25ms, PT0.00025S",
        "0s, PT0S",
        "PT10S, PT10S",
        "pt1m30s, PT1M30S",
        "' 10S ', PT10S"
    })
    void readsTimesAsPeopleWriteThem(String text, Duration expected) {
        assertThat(new DurationConverter().convert(text)).isEqualTo(expected);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " ", "5x", "-5s", "-5", "1.", ".5", "1,5", "s", "ten seconds", "10 s", "P"})
    void refusesOthersAndSaysWhatIsExpected(String text) {
        assertThatThrownBy(() -> new DurationConverter().convert(text))
                .isInstanceOf(TypeConversionException.class)
                .hasMessageStartingWith(text + " (expected: ")
                .hasMessageContaining("10s");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "99999999999999999999s",
                "99999999999999999999",
                "9223372036854775807h",
                "36501d",
                "PT9223372036854775807S"
            })
    void refusesWhatWouldOverflow(String text) {
        assertThatThrownBy(() -> new DurationConverter().convert(text))
                .isInstanceOf(TypeConversionException.class)
                .hasMessage(text + " (expected: at most 36500d)");
    }

    @ParameterizedTest
    @ValueSource(strings = {"PT-5S", "-PT5S"})
    void refusesNegativeOnes(String text) {
        assertThatThrownBy(() -> new DurationConverter().convert(text))
                .isInstanceOf(TypeConversionException.class)
                .hasMessage(text + " (expected: zero or more)");
    }

    @ParameterizedTest
    @CsvSource({"PT0S, 0ms", "PT0.25S, 250ms", "PT10S, 10s", "PT90S, 90s", "PT2M, 2m", "PT3H, 3h"})
    void writesThemTheSameWay(Duration value, String expected) {
        assertThat(DurationConverter.format(value)).isEqualTo(expected);
    }
}
