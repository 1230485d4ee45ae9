package io.holdfast.cdi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LockClient;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The settings {@code holdfast.*}, here of MicroProfile Config, which reads system properties. */
class SettingsTest {

    @AfterEach
    void clear() {
        System.getProperties().keySet().removeIf(name -> name.toString().startsWith("holdfast."));
    }

    private static void set(Map<String, String> settings) {
        settings.forEach((name, value) -> System.setProperty("holdfast." + name, value));
    }

    @Test
    void they_make_the_client() {
        set(Map.of("store", " memory:settings ", "lease-time", "20s", "client-name", "billing"));
        try (LockClient client = Settings.open(Optional.empty())) {
            assertThat(client.describeStore()).contains("memory");
            assertThat(client.acquireAsync("x").toCompletableFuture().join().remaining())
                    .isBetween(Duration.ofSeconds(10), Duration.ofSeconds(20));
        }
    }

    @Test
    void one_that_cannot_be_used_is_named() {
        set(Map.of("store", "memory:settings", "lease-time", "20"));
        assertThatThrownBy(() -> Settings.open(Optional.empty()))
                .hasMessage(
                        "holdfast.lease-time: \"20\" (expected: a number with its unit, for example 500ms, 10s or 5m)");
    }

    @Test
    void the_wait_time_of_methods_has_a_default_and_need_not_have_a_limit() {
        assertThat(Settings.waitTime()).contains(Duration.ofSeconds(10));
        set(Map.of("wait-time", "PT3S"));
        assertThat(Settings.waitTime()).contains(Duration.ofSeconds(3));
        set(Map.of("wait-time", "unlimited"));
        assertThat(Settings.waitTime()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"0, 0", "500ms, 500", "10s, 10000", "5 m, 300000", "2h, 7200000", "1d, 86400000", "PT1.5S, 1500"})
    void a_time_has_a_unit(String text, long millis) {
        assertThat(Settings.duration(text)).contains(Duration.ofMillis(millis));
    }

    @ParameterizedTest
    @CsvSource({"10", "-1s", "PT-1S", "soon", "1w", "9999999999999s"})
    void other_times_are_refused(String text) {
        assertThatThrownBy(() -> Settings.duration(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("\"" + text + "\" (expected: ");
    }
}
