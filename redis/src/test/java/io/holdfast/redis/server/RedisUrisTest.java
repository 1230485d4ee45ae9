package io.holdfast.redis.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.redis.RedisMode;
import io.holdfast.redis.server.RedisSettings.Topology;
import io.lettuce.core.RedisCredentials;
import io.lettuce.core.RedisURI;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

public class RedisUrisTest {

    @Test
    void hostAloneIsEnough() {
        RedisSettings settings = parse("redis://lock-server");

        assertThat(settings.topology()).isEqualTo(Topology.SERVER);
        assertThat(settings.nodes()).hasSize(1);
        assertThat(settings.tls()).isFalse();
        assertThat(settings.node().getHost()).isEqualTo("lock-server");
        assertThat(settings.node().getPort()).isEqualTo(6379);
        assertThat(settings.node().getDatabase()).isZero();
        assertThat(settings.user()).isNull();
        assertThat(password(settings.node())).isNull();
        assertThat(settings.timeout()).isEqualTo(Duration.ofSeconds(3));
        assertThat(settings.node().getClientName()).isEqualTo("holdfast");
        assertThat(settings.internalPrefix()).isEqualTo("holdfast");
        assertThat(settings.namePrefix()).isEqualTo("lock:");
        assertThat(settings.mode()).isEqualTo(RedisMode.AUTO);
        assertThat(settings.minReplicas()).isZero();
        assertThat(settings.ca()).isNull();
        assertThat(settings.describe()).isEqualTo("redis://lock-server:6379/0");
    }

    @Test
    void everythingCanBeSaid(@TempDir Path dir) throws Exception {
        Path ca = Files.createFile(dir.resolve("my ca.pem"));
        RedisSettings settings =
                parse("rediss://ali%3Ace:p%40ss+%2F%25word@redis_1:7000/3?timeout=250ms&clientName=billing"
                        + "&internalPrefix=locks:prod&namePrefix=%7Bl%7D:&mode=lua&minReplicas=2&ca="
                        + ca.toString().replace(" ", "%20"));

        assertThat(settings.tls()).isTrue();
        assertThat(settings.node().getHost()).isEqualTo("redis_1");
        assertThat(settings.node().getPort()).isEqualTo(7000);
        assertThat(settings.node().getDatabase()).isEqualTo(3);
        assertThat(settings.user()).isEqualTo("ali:ce");
        assertThat(password(settings.node())).isEqualTo("p@ss+/%word");
        assertThat(settings.timeout()).isEqualTo(Duration.ofMillis(250));
        assertThat(settings.node().getTimeout()).isEqualTo(Duration.ofMillis(250));
        assertThat(settings.node().getClientName()).isEqualTo("billing");
        assertThat(settings.internalPrefix()).isEqualTo("locks:prod");
        assertThat(settings.namePrefix()).isEqualTo("{l}:");
        assertThat(settings.mode()).isEqualTo(RedisMode.LUA);
        assertThat(settings.minReplicas()).isEqualTo(2);
        assertThat(settings.ca()).isEqualTo(ca);
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
        assertThat(password(settings.node())).isEqualTo(password);
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
        assertThat(settings.node().getHost()).isEqualTo(host);
        assertThat(settings.node().getPort()).isEqualTo(port);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "redis:foo | redis URI, host: missing (expected: for example redis://user:password@host:6379/0)",
                "redis:///0 | redis URI, host: missing (expected: for example redis://user:password@host:6379/0)",
                "redis://:6379 | redis URI, host: missing (expected: for example redis://user:password@host:6379/0)",
                "redis://h1,h2 | redis URI, host: several (expected: one host name or address; several with redis-sentinel:// or redis-cluster://)",
                "redis://h:0 | redis URI, port: not a number from 1 to 65535 (expected: as in redis://user:password@host:6379/0, with a host after the @)",
                "redis://h:x | redis URI, port: not a number from 1 to 65535 (expected: as in redis://user:password@host:6379/0, with a host after the @)",
                "redis://h/one | redis URI, database: not a number (expected: a number, for example redis://user:password@host:6379/0)",
                "redis://h?retries=3 | redis URI, option: unknown name (expected: one of timeout, clientName, namePrefix, internalPrefix, ca, cert, key, mode, minReplicas, redissonChannels)",
                "redis://h?timeout=5 | redis URI, timeout: \"5\" (expected: 10ms to 60s, for example 500ms or 2s)",
                "redis://h?timeout=5m | redis URI, timeout: \"5m\" (expected: 10ms to 60s, for example 500ms or 2s)",
                "redis://h?timeout=0s | redis URI, timeout: \"0s\" (expected: 10ms to 60s, for example 500ms or 2s)",
                "redis://h?timeout=1s&timeout=2s | redis URI, option: \"timeout\" twice (expected: once)",
                "redis://h?clientName=a%20b | redis URI, clientName: \"a b\" (expected: 1 to 64 ASCII characters without spaces)",
                "redis://h?internalPrefix=%7Bx%7D | redis URI, internalPrefix: \"{x}\" (expected: 1 to 64 ASCII characters without spaces and braces)",
                "redis://h?namePrefix=a%20b | redis URI, namePrefix: \"a b\" (expected: ASCII characters without spaces, at most 64; empty for keys that are the names alone)",
                "redis://h?namePrefix=holdfast:x | redis URI, namePrefix: \"holdfast:x\" (expected: one that does not begin with the internalPrefix, \"holdfast:\")",
                "redis://h?internalPrefix | redis URI, internalPrefix: \"\" (expected: 1 to 64 ASCII characters without spaces and braces)",
                "redis://h?ca=/x.pem | redis URI, ca: \"/x.pem\" (expected: only with rediss://)",
                "rediss://h?ca=/x.pem | redis URI, ca: \"/x.pem\" (expected: a PEM file that can be read)",
                "redis://u:@h | redis URI, password: empty (expected: user:password@, or :password@ for the default user)",
                "redis://h?mode=fast | redis URI, mode: \"fast\" (expected: one of auto, lua, commands)",
                "redis://h?minReplicas=-1 | redis URI, minReplicas: \"-1\" (expected: 0 to 100)",
                "redis://h?sentinelPassword=x | redis URI, option: unknown name (expected: one of timeout, clientName, namePrefix, internalPrefix, ca, cert, key, mode, minReplicas, redissonChannels)",
                "redis-sentinel://h1,h2 | redis URI, master name: missing (expected: after # at the end, as in redis-sentinel://user:password@host1:26379,host2,host3/0#mymaster)",
                "redis-sentinel://h1,,h2#m | redis URI, host: missing (expected: for example redis-sentinel://user:password@host1:26379,host2,host3/0#mymaster)",
                "redis-sentinel://h1#m?timeout=1s | redis URI, master name: not of letters, digits and . _ - alone (expected: as in the Sentinels' configuration, at the end of the URI, after the options)",
                "redis-sentinel://h1?sentinelUser=x#m | redis URI, sentinelUser without sentinelPassword (expected: both, or the password alone)",
                "redis-cluster://h1/1 | redis URI, database: not 0 (expected: none; a cluster has only database 0)",
                "redis-cluster://h1,h2:x | redis URI, port: not a number from 1 to 65535 (expected: as in redis-cluster://user:password@host1:6379,host2,host3, with a host after the @)",
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
        "redis://user:p@ss/hunter@h",
        "redis://user:p@ss/0?hunter@h",
        "redis://user:p@ss/0?hunter=2@h",
        "redis-sentinel://user:p@ss#hunter@h",
        "redis://user:hunter%40hunter@h:x",
        "redis://user:hunter2@h?hunters=x",
        "redis://user:hunter2@h:6379:7",
        "redis-sentinel://user:hunter#2hunter@h",
        "redis-sentinel://user:hunter2@h?sentinelPassword=hunter2",
        "redis-sentinel://user:hunter2@h?sentinelUser=u#m",
        // Without a host, the password is where host, port, database, option and master name should be.
        "redis://user:hunter",
        "redis://user:hunter/0",
        "redis://user:65536123",
        "redis://user:hunter:6379",
        "redis://hunter$hunter",
        "redis://user:p@hunter$",
        "redis://user:p@ss:hunter",
        "redis://user:123/hunter",
        "redis://user:123?hunter",
        "redis://user:123?hunter=2",
        "rediss://user:hunter",
        "redis-sentinel://user:hunter#m",
        "redis-sentinel://user:123#hunter/x",
        "redis-sentinel://h?sentinelPassword=x&hunter=2#m",
        "redis-cluster://user:hunter",
        "'redis-cluster://user:123,hunter$'",
        "redis-cluster://user:123/hunter",
    })
    void thePasswordIsNeverShown(String uri) {
        assertThatThrownBy(() -> parse(uri))
                .isInstanceOf(IllegalArgumentException.class)
                .satisfies(e -> assertThat(e.getMessage()).doesNotContain("hunter", "65536123"));
    }

    @Test
    void sentinelsHaveALoginOfTheirOwn() {
        RedisSettings settings = parse(
                "redis-sentinel://app:pw@h1,h2:7000,%5B::1%5D:7001/2?sentinelUser=s&sentinelPassword=t%40#my.master");

        assertThat(settings.topology()).isEqualTo(Topology.SENTINEL);
        assertThat(settings.describe()).isEqualTo("redis-sentinel://h1:26379,h2:7000,[::1]:7001/2#my.master");
        assertThat(settings.user()).isEqualTo("app");
        assertThat(password(settings.node())).isEqualTo("pw");
        assertThat(settings.node().getDatabase()).isEqualTo(2);
        assertThat(settings.node().getClientName()).isEqualTo("holdfast");
        assertThat(settings.node().getSentinels()).hasSize(3).allSatisfy(sentinel -> {
            assertThat(password(sentinel)).isEqualTo("t@");
            assertThat(sentinel.getDatabase()).isZero();
            assertThat(sentinel.isSsl()).isFalse();
        });
    }

    @Test
    void withoutALoginOfTheirOwnSentinelsAreNotGivenTheServers() {
        RedisSettings settings = parse("rediss-sentinel://app:pw@h1/0#m");

        assertThat(settings.describe()).isEqualTo("rediss-sentinel://h1:26379/0#m");
        assertThat(settings.tls()).isTrue();
        assertThat(settings.node().getSentinels().get(0).isSsl()).isTrue();
        assertThat(password(settings.node().getSentinels().get(0))).isNull();
    }

    @Test
    void aClusterHasNodes() {
        RedisSettings settings = parse("rediss-cluster://app:pw@h1,h2:7000");

        assertThat(settings.topology()).isEqualTo(Topology.CLUSTER);
        assertThat(settings.describe()).isEqualTo("rediss-cluster://h1:6379,h2:7000");
        assertThat(settings.nodes()).hasSize(2).allSatisfy(node -> {
            assertThat(password(node)).isEqualTo("pw");
            assertThat(node.isSsl()).isTrue();
        });
    }

    private static @Nullable String password(RedisURI uri) {
        RedisCredentials credentials =
                uri.getCredentialsProvider().resolveCredentials().toFuture().getNow(null);
        char[] password = credentials == null ? null : credentials.getPassword();
        return password == null ? null : new String(password);
    }

    private static RedisSettings parse(String uri) {
        return RedisUris.parse(URI.create(uri));
    }
}
