package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RedisSettingsTest {

    @Test
    void hostAloneIsEnough() {
        RedisSettings settings = parse("redis://lock-server");

        assertThat(settings)
                .isEqualTo(new RedisSettings(
                        false,
                        "lock-server",
                        6379,
                        0,
                        null,
                        null,
                        Duration.ofSeconds(3),
                        "holdfast",
                        "holdfast",
                        null));
        assertThat(settings.describe()).isEqualTo("redis://lock-server:6379/0");
    }

    @Test
    void everythingCanBeSaid(@TempDir Path dir) throws Exception {
        Path ca = Files.createFile(dir.resolve("my ca.pem"));
        RedisSettings settings =
                parse("rediss://ali%3Ace:p%40ss+%2F%25word@redis_1:7000/3?timeout=250ms&clientName=billing"
                        + "&prefix=locks:prod&ca=" + ca.toString().replace(" ", "%20"));

        assertThat(settings)
                .isEqualTo(new RedisSettings(
                        true,
                        "redis_1",
                        7000,
                        3,
                        "ali:ce",
                        "p@ss+/%word",
                        Duration.ofMillis(250),
                        "billing",
                        "locks:prod",
                        ca));
        assertThat(settings.toString()).isEqualTo("rediss://redis_1:7000/3").doesNotContain("word");
    }

    @ParameterizedTest
    @CsvSource({
        "redis://:secret@h, , secret",
        "redis://secret@h, , secret",
        "redis://u:s:cret@h, u, s:cret",
        "redis://u:s%C3%A9cret@h, u, sécret",
    })
    void loginsAreUnderstood(String uri, String user, String password) {
        RedisSettings settings = parse(uri);
        assertThat(settings.user()).isEqualTo(user);
        assertThat(settings.password()).isEqualTo(password);
    }

    @ParameterizedTest
    @CsvSource({
        "redis://127.0.0.1:1, 127.0.0.1, 1",
        "'redis://[::1]:7000/', ::1, 7000",
        "'redis://[fe80::1]', fe80::1, 6379",
        "REDIS://my_host:65535, my_host, 65535",
    })
    void addressesAreUnderstood(String uri, String host, int port) {
        RedisSettings settings = parse(uri);
        assertThat(settings.host()).isEqualTo(host);
        assertThat(settings.port()).isEqualTo(port);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "redis:foo | redis URI, host: missing (expected: for example redis://user:password@host:6379/0)",
                "redis:///0 | redis URI, host: missing (expected: for example redis://user:password@host:6379/0)",
                "redis://:6379 | redis URI, host: missing (expected: for example redis://user:password@host:6379/0)",
                "redis://h1,h2 | redis URI, host: \"h1,h2\" (expected: one host name or address; an IPv6 address in [ ])",
                "redis://h:0 | redis URI, port: \"0\" (expected: 1 to 65535, for example redis://user:password@host:6379/0)",
                "redis://h:x | redis URI, port: \"x\" (expected: 1 to 65535, for example redis://user:password@host:6379/0)",
                "redis://h/one | redis URI, database: \"one\" (expected: a number, for example redis://user:password@host:6379/0)",
                "redis://h?retries=3 | redis URI, option: \"retries\" (expected: one of timeout, clientName, prefix, ca)",
                "redis://h?timeout=5 | redis URI, timeout: \"5\" (expected: 10ms to 60s, for example 500ms or 2s)",
                "redis://h?timeout=5m | redis URI, timeout: \"5m\" (expected: 10ms to 60s, for example 500ms or 2s)",
                "redis://h?timeout=0s | redis URI, timeout: \"0s\" (expected: 10ms to 60s, for example 500ms or 2s)",
                "redis://h?timeout=1s&timeout=2s | redis URI, option: \"timeout\" twice (expected: once)",
                "redis://h?clientName=a%20b | redis URI, clientName: \"a b\" (expected: 1 to 64 ASCII characters without spaces)",
                "redis://h?prefix=%7Bx%7D | redis URI, prefix: \"{x}\" (expected: 1 to 64 ASCII characters without spaces and braces)",
                "redis://h?prefix | redis URI, prefix: \"\" (expected: 1 to 64 ASCII characters without spaces and braces)",
                "redis://h?ca=/x.pem | redis URI, ca: \"/x.pem\" (expected: only with rediss://)",
                "rediss://h?ca=/x.pem | redis URI, ca: \"/x.pem\" (expected: a PEM file that can be read)",
                "redis://u:@h | redis URI, password: empty (expected: user:password@, or :password@ for the default user)",
                "redis://h#x | redis URI, # after the host (expected: no fragment; a # in a password is written %23)",
            })
    void whatIsWrongIsNamed(String uri, String message) {
        assertThatThrownBy(() -> parse(uri))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(message);
    }

    /** Where the password breaks the URI, the rest of it ends up in places that messages quote. */
    @ParameterizedTest
    @CsvSource({
        "redis://user:hunter/2hunter@h",
        "redis://user:hunter?2hunter@h",
        "redis://user:hunter#2hunter@h",
        "redis://user:/hunter2@h/0",
        "redis://user:hunter%40hunter@h:x",
        "redis://user:hunter2@h?hunters=x",
        "redis://user:hunter2@h:6379:7",
    })
    void thePasswordIsNeverShown(String uri) {
        assertThatThrownBy(() -> parse(uri))
                .isInstanceOf(IllegalArgumentException.class)
                .satisfies(e ->
                        assertThat(e.getMessage().replace("\"hunters\"", "")).doesNotContain("hunter"));
    }

    private static RedisSettings parse(String uri) {
        return RedisSettings.parse(URI.create(uri));
    }
}
