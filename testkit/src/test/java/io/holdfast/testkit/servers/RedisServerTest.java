package io.holdfast.testkit.servers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class RedisServerTest {

    static List<Installation> available() {
        return RedisServer.available();
    }

    @Test
    void thereIsAServerAndEachVersionOnce() {
        assertThat(RedisServer.available()).isNotEmpty();
        assertThat(RedisServer.available()).extracting(Installation::label).doesNotHaveDuplicates();
    }

    @ParameterizedTest
    @MethodSource("available")
    void everyAvailableServerStarts(Installation installation) {
        try (RedisServer server =
                RedisServer.builder().installation(installation).start()) {
            assertThat(server.command("SET", "k", "v")).isEqualTo("OK");
            assertThat(server.command("GET", "k")).isEqualTo("v");
            assertThat(server.uri()).isEqualTo("redis://127.0.0.1:" + server.port());
            assertThat(String.valueOf(server.command("INFO", "server"))).contains("process_id:" + server.pid() + "\r");
            assertThat(server.command("CONFIG", "GET", "save")).isEqualTo(List.of("save", ""));
            // From 7.0 on only with an option that older ones do not know.
            assertThat(server.command("DEBUG", "SLEEP", "0")).isEqualTo("OK");
        }
    }

    @Test
    void repliesAreStringsNumbersListsAndNull() {
        try (RedisServer server = RedisServer.start()) {
            assertThat(server.command("INCR", "n")).isEqualTo(1L);
            assertThat(server.command("GET", "none")).isNull();
            assertThat(server.command("SET", "k", "ä\r\n🔒")).isEqualTo("OK");
            assertThat(server.command("MGET", "k", "none", "n")).isEqualTo(Arrays.asList("ä\r\n🔒", null, "1"));
            assertThat(server.command("EVAL", "return {1,{'a',{}}}", "0"))
                    .isEqualTo(List.of(1L, List.of("a", List.of())));
            assertThatThrownBy(() -> server.command("LPUSH", "k", "x"))
                    .isInstanceOf(RespClient.ErrorReply.class)
                    .hasMessageStartingWith("WRONGTYPE");
        }
    }

    @Test
    void commandsAreCounted() {
        try (RedisServer server = RedisServer.start()) {
            for (int i = 0; i < 3; i++) {
                server.command("INCR", "n");
            }
            assertThat(server.commandCounts()).contains(Map.entry("incr", 3L)).doesNotContainKey("get");
        }
    }

    @Test
    void aPasswordIsAskedForAndPartOfTheUri() throws IOException {
        try (RedisServer server = RedisServer.builder().password("p w/1").start();
                RespClient stranger = RespClient.connect(server.host(), server.port(), Duration.ofSeconds(5))) {
            assertThat(server.uri()).isEqualTo("redis://:p%20w%2F1@127.0.0.1:" + server.port());
            assertThat(server.command("PING")).isEqualTo("PONG");
            assertThatThrownBy(() -> stranger.call("PING")).hasMessageStartingWith("NOAUTH");
        }
    }

    @Test
    void argumentsReachTheServer() {
        try (RedisServer server = RedisServer.builder()
                .args("--maxmemory", "7mb", "--user", "default", "on", "nopass", "~*", "&*", "+@all", "-@scripting")
                .start()) {
            assertThat(server.command("CONFIG", "GET", "maxmemory")).isEqualTo(List.of("maxmemory", "7340032"));
            assertThatThrownBy(() -> server.command("EVAL", "return 1", "0")).hasMessageStartingWith("NOPERM");
        }
    }

    @Test
    void aServerWhoseUserMayNotEvenPingStarts() {
        try (RedisServer server = RedisServer.builder()
                .args("--user", "default", "on", "nopass", "~*", "&*", "+get")
                .start()) {
            assertThat(server.command("GET", "k")).isNull();
        }
    }

    @Test
    void aPausedServerAnswersAfterItIsResumed() throws IOException {
        try (RedisServer server = RedisServer.start();
                RespClient client = RespClient.connect(server.host(), server.port(), Duration.ofMillis(1_500))) {
            server.pause();
            assertThatThrownBy(() -> client.call("PING")).isInstanceOf(SocketTimeoutException.class);
            server.resume();
            assertThat(client.call("PING")).isEqualTo("PONG");
        }
    }

    @Test
    void aKilledServerIsGoneAndARestartedOneIsEmptyAtTheSamePort() {
        try (RedisServer server = RedisServer.start()) {
            int port = server.port();
            long pid = server.pid();
            String directory = ServerInChildJvm.directory(server);
            server.command("SET", "k", "v");

            server.kill();
            assertThat(ProcessHandle.of(pid)).isEmpty();
            assertThatThrownBy(() -> server.command("PING"))
                    .isInstanceOf(UncheckedIOException.class)
                    .hasCauseInstanceOf(ConnectException.class);
            assertThatThrownBy(server::pause).isInstanceOf(IllegalStateException.class);

            server.restart();
            assertThat(server.port()).isEqualTo(port);
            assertThat(server.pid()).isNotEqualTo(pid);
            assertThat(server.command("GET", "k")).isNull();
            assertThat(ServerInChildJvm.directory(server)).isEqualTo(directory);
        }
    }

    @Test
    void aRunningServerCanBeRestarted() {
        try (RedisServer server = RedisServer.start()) {
            long pid = server.pid();
            server.restart();
            assertThat(ProcessHandle.of(pid)).isEmpty();
            assertThat(server.command("PING")).isEqualTo("PONG");
        }
    }

    @Test
    void aServerThatHasEndedByItselfCanBeKilledAndRestarted() {
        try (RedisServer server = RedisServer.start()) {
            long pid = server.pid();
            assertThatThrownBy(() -> server.command("SHUTDOWN", "NOSAVE")).isInstanceOf(UncheckedIOException.class);
            await().until(() -> ProcessHandle.of(pid).isEmpty());
            server.kill();
            server.kill();
            server.restart();
            assertThat(server.command("PING")).isEqualTo("PONG");
        }
    }

    @Test
    void aClosedServerLeavesNoProcessAndNoFile() {
        List<RedisServer> servers = List.of(RedisServer.start(), RedisServer.start(), RedisServer.start());
        List<Long> pids = new ArrayList<>();
        List<Path> directories = new ArrayList<>();
        for (RedisServer server : servers) {
            pids.add(server.pid());
            directories.add(Path.of(ServerInChildJvm.directory(server)));
        }
        servers.get(1).pause();
        servers.get(2).kill();
        servers.forEach(RedisServer::close);
        servers.forEach(RedisServer::close);

        assertThat(pids).noneMatch(pid -> ProcessHandle.of(pid).isPresent());
        assertThat(directories).noneMatch(Files::exists);
        assertThat(ProcessHandle.current()
                        .children()
                        .filter(child -> child.info().commandLine().orElse("").contains("holdfast-guardian")))
                .isEmpty();
        assertThatThrownBy(servers.get(0)::restart).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void aServerDoesNotOutliveItsJvm() throws IOException {
        ServerInChildJvm jvm = new ServerInChildJvm();
        long pid = Long.parseLong(jvm.nextLine());
        Path directory = Path.of(jvm.nextLine());
        assertThat(ProcessHandle.of(pid)).isPresent();

        jvm.kill();
        await().atMost(Duration.ofSeconds(10)).until(() -> ProcessHandle.of(pid).isEmpty());
        await().atMost(Duration.ofSeconds(10)).until(() -> !Files.exists(directory));
    }

    @Test
    void jvmsThatUnpackTheServerAtTheSameTimeShareIt(@TempDir Path temp) throws IOException {
        List<ServerInChildJvm> jvms = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            jvms.add(new ServerInChildJvm("-Djava.io.tmpdir=" + temp));
        }
        List<Path> programs = new ArrayList<>();
        for (ServerInChildJvm jvm : jvms) {
            jvm.nextLine();
            jvm.nextLine();
            programs.add(Path.of(jvm.nextLine()));
        }
        for (ServerInChildJvm jvm : jvms) {
            jvm.close();
        }
        assertThat(programs.get(0)).isEqualTo(programs.get(1));
        if (programs.get(0).startsWith(temp)) {
            try (Stream<Path> files = Files.list(programs.get(0).getParent())) {
                assertThat(files).containsExactly(programs.get(0));
            }
        }
    }

    @Test
    void aServerThatDoesNotStartSaysWhy() {
        assertThatThrownBy(() -> RedisServer.builder().args("--nonsense", "1").start())
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("did not start")
                .hasMessageContaining("nonsense");
    }

    @Test
    void aProgramThatIsNoServerIsRefused() {
        assertThatThrownBy(() ->
                        RedisServer.builder().executable(Path.of("/bin/sh")).start())
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("executable: /bin/sh (expected: a Redis or Valkey server that runs here)");
    }

    @Test
    void versionsAreCompared() {
        Installation installation = new Installation("Redis 7.2.10", Path.of("x"), "7.2.10");
        assertThat(installation.isAtLeast(7, 2)).isTrue();
        assertThat(installation.isAtLeast(6, 9)).isTrue();
        assertThat(installation.isAtLeast(7, 3)).isFalse();
        assertThat(installation.isAtLeast(8, 0)).isFalse();
    }
}
