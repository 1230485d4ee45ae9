package io.holdfast.console;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AgesTest {

    @ParameterizedTest
    @CsvSource({
        "-PT1S, 0.0s",
        "PT0S, 0.0s",
        "PT7.29S, 7.2s",
        "PT9.999S, 9.9s",
        "PT10S, 10s",
        "PT119.9S, 119s",
        "PT2M, 2m0s",
        "PT119M59S, 119m59s",
        "PT2H, 2h0m",
        "PT47H59M, 47h59m",
        "P2D, 2d0h",
        "P400DT5H, 400d5h"
    })
    void twoUnitsAtMost(Duration age, String text) {
        assertThat(Ages.of(age)).isEqualTo(text);
    }
}
