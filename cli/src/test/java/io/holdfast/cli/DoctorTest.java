package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.testkit.RedisServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/**
 * {@code doctor}: each fault of a server is a finding with a severity and what to do, and errors show in the exit code.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class DoctorTest {

    private RedisServer redis;

    @BeforeAll
    void startServer() {
        redis = RedisServer.start();
    }

    @AfterAll
    void stopServer() {
        redis.close();
    }

    @Test
    void aServerAsItShouldBe() {
        redis.command("CONFIG", "SET", "maxmemory-policy", "noeviction");
        InProcess result = doctor(redis.uri());
        assertThat(result.err()).isEmpty();
        assertThat(result.exitCode()).isZero();
        assertThat(result.out())
                .contains("OK       version      Redis ", "standalone")
                .contains(
                        "OK       mode         using Lua scripts (mode lua), because the server runs them for this user")
                .contains("OK       eviction     maxmemory-policy is noeviction")
                .contains("WARNING  persistence  appendonly is no", "do: set appendonly yes")
                .contains("OK       replication  a master without replicas")
                .containsPattern(
                        "OK       clock        the server's clock is \\d+ m?s (behind|ahead of) this machine's")
                .containsPattern("OK       latency      100 locks and unlocks: half within \\d+\\.\\d\\d ms")
                .containsPattern("keys         lock: lock:holdfast-doctor-[-0-9a-f]+, hash, expires in ")
                .containsPattern("keys         counter: holdfast:b, string, expires in ")
                .contains("0 errors, ");
        // Nothing of the trial is left.
        assertThat((Iterable<?>) redis.command("KEYS", "lock:holdfast-doctor-*"))
                .isEmpty();
    }

    @Test
    void evictionIsAnError() {
        redis.command("CONFIG", "SET", "maxmemory", "100mb");
        redis.command("CONFIG", "SET", "maxmemory-policy", "volatile-lru");
        try {
            InProcess result = doctor(redis.uri());
            assertThat(result.exitCode()).isEqualTo(78);
            assertThat(result.out().lines().skip(1).findFirst().orElseThrow())
                    .isEqualTo("ERROR    eviction     maxmemory-policy is volatile-lru: when memory is full, locks are"
                            + " deleted while held");
            assertThat(result.out()).contains("do: set maxmemory-policy noeviction", "1 error, ");
        } finally {
            redis.command("CONFIG", "SET", "maxmemory", "0");
            redis.command("CONFIG", "SET", "maxmemory-policy", "noeviction");
        }
    }

    /** The rights that the store can do without are named, each with what its absence costs. */
    @Test
    void missingRights() {
        redis.command(
                words("ACL SETUSER few on resetchannels >pw ~lock:* ~holdfast:* +@all -info -publish -subscribe"));
        InProcess result = doctor("redis://few:pw@127.0.0.1:" + redis.port());
        assertThat(result.exitCode()).isZero();
        assertThat(result.out())
                .contains("this user may not PUBLISH, so a hand-off takes up to a second: NOPERM")
                .contains("do: allow +publish and the channels holdfast:c:*")
                .contains("this client receives no messages")
                .contains("the server does not say its version, eviction policy, persistence and role: NOPERM")
                .contains("scripts may not publish")
                .doesNotContain("few:pw");
    }

    @Test
    void withoutScripts() {
        redis.command(words("ACL SETUSER plain on allchannels >pw ~* +@all -@scripting"));
        InProcess result = doctor("redis://plain:pw@127.0.0.1:" + redis.port());
        assertThat(result.exitCode()).isZero();
        assertThat(result.out())
                .containsPattern(
                        "WARNING  mode         using no scripts \\(mode commands\\), because the server runs no"
                                + " scripts for this user: NOPERM.*; so there is no fair queue at the server")
                .containsPattern("keys         lock: lock:holdfast-doctor-[-0-9a-f]+, string, expires in ");
    }

    @Test
    void json() {
        InProcess result = doctor("--json", redis.uri());
        assertThat(result.out().lines()).hasSize(1);
        assertThat(result.out())
                .startsWith("{\"store\":\"redis://127.0.0.1:" + redis.port())
                .contains("\"usable\":true,\"errors\":0,")
                .containsPattern("\"pairMicros\":\\{\"p50\":\\d+,\"p90\":\\d+,\"p99\":\\d+,\"max\":\\d+}")
                .contains("{\"severity\":\"ok\",\"subject\":\"version\",\"text\":\"Redis ");
    }

    @Test
    void aServerThatIsAway() throws IOException {
        int port;
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }
        InProcess result = doctor("redis://127.0.0.1:" + port);
        assertThat(result.exitCode()).isEqualTo(69);
        assertThat(result.out()).isEmpty();
        assertThat(result.errLines()).singleElement().asString().contains("127.0.0.1:" + port);
    }

    private static InProcess doctor(String uri) {
        return InProcess.run("doctor", "--store", uri);
    }

    private static InProcess doctor(String option, String uri) {
        return InProcess.run("doctor", option, "--store", uri);
    }

    private static String[] words(String command) {
        return command.split(" ", -1);
    }
}
