package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockClient;
import io.holdfast.testkit.servers.RedisServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/**
 * {@code doctor}: each fault of a server is a finding with a severity and what to do, and errors show in the exit code.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class DoctorTest {

    private static final Pattern LATENCY = Pattern.compile(
            "(?m)^(OK     |WARNING)  latency      \\d+ locks and unlocks: half within (\\d+\\.\\d\\d) ms");

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
                .containsPattern("keys         lock: lock:holdfast-doctor-[-0-9a-f]+, hash, expires in ")
                .containsPattern("keys         counter: holdfast:b, string, expires in ")
                .contains("0 errors, ");
        assertLatency(result.out());
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
                .contains("the server refuses PUBLISH, so a hand-off takes up to a second: NOPERM")
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

    /** Each member is examined, with all that the client warns of. */
    @Test
    void theMembersOfAQuorum() {
        try (RedisServer evicts = RedisServer.start();
                RedisServer keeps = RedisServer.start();
                RedisServer away = RedisServer.start()) {
            evicts.command("CONFIG", "SET", "maxmemory", "100mb");
            evicts.command("CONFIG", "SET", "maxmemory-policy", "allkeys-lru");
            keeps.command("CONFIG", "SET", "appendonly", "yes");
            String uri =
                    "redlock://127.0.0.1:" + evicts.port() + ",127.0.0.1:" + keeps.port() + ",127.0.0.1:" + away.port();
            LockClient.connect(uri + "?bootstrap=true").close();
            away.kill();
            // On a busy machine, two answers may take longer than the usual 100 ms, and both are needed for a majority.
            InProcess result = doctor(uri + "?memberTimeout=10s");
            assertThat(result.exitCode()).as(result.out() + result.err()).isEqualTo(78);
            assertThat(result.out().replace(evicts.uri(), "EVICTS").replace(keeps.uri(), "KEEPS"))
                    .contains("ERROR    eviction     maxmemory-policy is allkeys-lru: when memory is full, locks are"
                            + " deleted while held (EVICTS")
                    .contains("WARNING  persistence  appendonly is no (EVICTS", "does not vote for the longest lease")
                    .contains("OK       eviction     maxmemory-policy is noeviction: locks are never evicted (KEEPS")
                    .contains("OK       persistence  appendonly is yes: a restart keeps holds but for the last writes"
                            + " (KEEPS")
                    .containsPattern("OK       version      Redis \\S+, standalone \\(EVICTS")
                    .containsPattern("OK       version      Redis \\S+, standalone \\(KEEPS")
                    .containsPattern("OK       replication  a master with 0 replicas \\(KEEPS")
                    .containsPattern(
                            "clock        the server's clock is \\d+ m?s (behind|ahead of) this machine's \\(KEEPS")
                    .containsPattern("clock        the server's clock ran \\S+ % (faster|slower) than this machine's"
                            + " \\(give or take \\S+ %\\) \\(KEEPS")
                    .contains("WARNING  member       redis://127.0.0.1:" + away.port() + "/0 cannot be reached");
            assertLatency(result.out());
        }
    }

    /** What is wrong shows most where no lock can be taken. */
    @Test
    void aQuorumThatDoesNotVoteYet() {
        try (RedisServer one = RedisServer.start();
                RedisServer two = RedisServer.start();
                RedisServer three = RedisServer.start()) {
            InProcess result = doctor(
                    "redlock://127.0.0.1:" + one.port() + ",127.0.0.1:" + two.port() + ",127.0.0.1:" + three.port());
            assertThat(result.exitCode()).as(result.out() + result.err()).isEqualTo(78);
            assertThat(result.out())
                    .contains("ERROR    health       no lock can be taken now")
                    .containsPattern("WARNING  vote         redis://127.0.0.1:" + three.port()
                            + "/0 is new or has lost its data, so it does not vote for another \\d+ s")
                    .contains("OK       version      Redis ")
                    .doesNotContain("latency");
        }
    }

    @Test
    @Tag("deep") // quick: theMembersOfAQuorum
    void membersThatReplicateOneAnother() {
        try (RedisServer master = RedisServer.start();
                RedisServer writable =
                        RedisServer.builder().args("--replica-read-only", "no").start();
                RedisServer readOnly = RedisServer.start()) {
            for (RedisServer replica : List.of(writable, readOnly)) {
                replica.command("REPLICAOF", "127.0.0.1", Integer.toString(master.port()));
                Awaitility.await()
                        .atMost(Duration.ofSeconds(60))
                        .until(() -> String.valueOf(replica.command("INFO", "replication"))
                                .contains("master_link_status:up"));
            }
            InProcess result = doctor("redlock://127.0.0.1:" + master.port() + ",127.0.0.1:" + writable.port()
                    + ",127.0.0.1:" + readOnly.port());
            assertThat(result.exitCode()).as(result.out() + result.err()).isEqualTo(78);
            assertThat(result.out())
                    .contains("ERROR    replication  the server is a replica of 127.0.0.1:" + master.port()
                            + ": no lock can be taken there (redis://127.0.0.1:" + writable.port())
                    .containsPattern("WARNING  replication  redis://127.0.0.1:" + master.port()
                            + "/0 and redis://127.0.0.1:" + writable.port() + "/0 replicate one another")
                    // Whether it answers at all depends on the connection, which each refusal ends.
                    .containsPattern("no lock can be taken there \\(redis://127.0.0.1:" + readOnly.port()
                            + "|WARNING  member       redis://127.0.0.1:" + readOnly.port() + "/0 refused: READONLY");
        }
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

    /** Checks the line about the latency: it warns if half of the locks took 50 ms or longer, as on a busy machine. */
    private static void assertLatency(String out) {
        Matcher line = LATENCY.matcher(out);
        assertThat(line.find()).as(out).isTrue();
        assertThat(line.group(1)).isEqualTo(Double.parseDouble(line.group(2)) < 50 ? "OK     " : "WARNING");
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
