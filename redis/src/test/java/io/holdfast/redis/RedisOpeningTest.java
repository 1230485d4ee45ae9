package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpServer;
import io.holdfast.redis.commands.CommandsLockStore;
import io.holdfast.redis.lua.LuaLockStore;
import io.holdfast.spi.AcquireReply.Busy;
import io.holdfast.spi.AcquireReply.Granted;
import io.holdfast.spi.LockStoreProvider;
import io.holdfast.spi.StoreException;
import io.holdfast.testkit.servers.Installation;
import io.holdfast.testkit.servers.RedisServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.ServiceLoader;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/** Each reason why a store cannot be opened is one sentence that says what to do. */
@ParameterizedClass(name = "{0}")
@MethodSource("io.holdfast.testkit.servers.RedisServer#available")
class RedisOpeningTest {

    private static RedisServer server;
    private static RedisServer guarded;

    RedisOpeningTest(Installation installation) {}

    @BeforeParameterizedClassInvocation
    static void start(Installation installation) {
        server = RedisServer.builder().installation(installation).start();
        guarded = RedisServer.builder()
                .installation(installation)
                .password("s3cret")
                .start();
    }

    @AfterParameterizedClassInvocation
    static void stop() {
        server.close();
        guarded.close();
    }

    @Test
    void theProviderIsFound() {
        assertThat(ServiceLoader.load(LockStoreProvider.class))
                .anyMatch(provider -> provider instanceof RedisLockStoreProvider
                        && provider.schemes().contains("rediss"));
    }

    @Test
    void nobodyThere() throws IOException {
        int port;
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = socket.getLocalPort();
        }
        StoreException error = failure("redis://127.0.0.1:" + port);
        assertThat(error.getMessage())
                .startsWith("redis://127.0.0.1:" + port + "/0 cannot be reached: Connection refused")
                .endsWith("(start the server, or correct host and port; a server with TLS needs rediss://)");
        assertThat(error.outcome()).isEqualTo(StoreException.Outcome.NOT_EXECUTED);
    }

    @Test
    void unknownHost() {
        assertThat(failure("redis://no-such-host.invalid"))
                .hasMessage("redis://no-such-host.invalid:6379/0 cannot be reached: its host name is unknown"
                        + " (correct the URI)");
    }

    @Test
    void noAnswer() {
        try (RedisServer stopped = RedisServer.start()) {
            stopped.pause();
            assertThat(failure(stopped.uri() + "?timeout=300ms").getMessage())
                    .startsWith("redis://127.0.0.1:" + stopped.port() + "/0 did not answer within 300 ms (see that");
            stopped.resume();
        }
    }

    @Test
    void aWebServer() throws IOException {
        HttpServer web = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        web.start();
        try {
            int port = web.getAddress().getPort();
            StoreException error = failure("redis://127.0.0.1:" + port + "?timeout=1s");
            assertThat(error)
                    .hasMessage("redis://127.0.0.1:" + port + "/0 is no Redis: it does not answer in Redis's protocol"
                            + " (correct host and port; a server with TLS needs rediss://)");
            assertThat(error.outcome()).isEqualTo(StoreException.Outcome.FATAL);
        } finally {
            web.stop(0);
        }
    }

    /** As nginx does, and others. */
    @Test
    void aWebServerThatAnswersBadRequests() throws IOException {
        try (ServerSocket web = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
            Thread answering = new Thread(() -> answerBadRequests(web), "web");
            answering.setDaemon(true);
            answering.start();
            assertThat(failure("redis://127.0.0.1:" + web.getLocalPort() + "?timeout=1s"))
                    .hasMessage("redis://127.0.0.1:" + web.getLocalPort() + "/0 is no Redis: it does not answer in"
                            + " Redis's protocol (correct host and port; a server with TLS needs rediss://)");
        }
    }

    private static void answerBadRequests(ServerSocket web) {
        while (!web.isClosed()) {
            try (Socket caller = web.accept()) {
                caller.getInputStream().read();
                caller.getOutputStream()
                        .write("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"
                                .getBytes(StandardCharsets.US_ASCII));
                caller.getOutputStream().flush();
            } catch (IOException e) {
                // The test has ended, or the caller has gone.
            }
        }
    }

    @Test
    void wrongPassword() {
        StoreException error = failure("redis://:wr0ng@127.0.0.1:" + guarded.port());
        assertThat(error)
                .hasMessage("redis://127.0.0.1:" + guarded.port() + "/0 refused the password of the default user"
                        + " (user or password is wrong: put it into the URI: redis://:password@host, or"
                        + " user:password@host)");
        assertThat(error.outcome()).isEqualTo(StoreException.Outcome.FATAL);
        assertThat(allMessages(error)).doesNotContain("wr0ng");
    }

    @Test
    void noPassword() {
        assertThat(failure("redis://127.0.0.1:" + guarded.port()))
                .hasMessage("redis://127.0.0.1:" + guarded.port()
                        + "/0 needs a password (put it into the URI: redis://:password@host, or user:password@host)");
    }

    @Test
    void rightPassword() {
        try (TestClient client = new TestClient("redis://:s3cret@127.0.0.1:" + guarded.port())) {
            client.hold("n");
            assertThat(client.store.describe()).doesNotContain("s3cret");
        }
    }

    @Test
    void noSuchDatabase() {
        assertThat(failure(server.uri() + "/99").getMessage())
                .startsWith("redis://127.0.0.1:" + server.port() + "/99 refused: ")
                .contains("DB index is out of range");
    }

    @Test
    void otherDatabase() {
        try (TestClient one = new TestClient(server.uri() + "/1");
                TestClient two = new TestClient(server.uri() + "/2?internalPrefix=mine&clientName=somebody")) {
            one.hold("n");
            two.hold("n");
            assertThat(String.valueOf(server.command("CLIENT", "LIST"))).contains("name=somebody");
        }
    }

    @Test
    void scriptsForbidden() {
        server.command("ACL", "SETUSER", "app", "on", ">s3cret", "~*", "&*", "+@all", "-@scripting");
        StoreException error = failure("redis://app:s3cret@127.0.0.1:" + server.port() + "?mode=lua");
        assertThat(error.getMessage())
                .startsWith("redis://127.0.0.1:" + server.port()
                        + "/0 does not let the user app run scripts with keys that begin with holdfast: NOPERM")
                .endsWith("(grant both, for example: ACL SETUSER app +@scripting ~holdfast:*)");
        assertThat(error.outcome()).isEqualTo(StoreException.Outcome.FATAL);
    }

    @Test
    void theModeFollowsTheRights() {
        server.command("ACL", "SETUSER", "either", "on", ">pw", "~*", "&*", "+@all");
        String uri = "redis://either:pw@127.0.0.1:" + server.port();
        assertThat(opened(uri)).isInstanceOf(LuaLockStore.class);
        assertThat(opened(uri + "?mode=commands")).isInstanceOf(CommandsLockStore.class);
        server.command("ACL", "SETUSER", "either", "-evalsha", "-eval", "-script");
        assertThat(opened(uri)).isInstanceOf(CommandsLockStore.class);
        assertThat(opened(uri + "?mode=auto")).isInstanceOf(CommandsLockStore.class);
    }

    private static Object opened(String uri) {
        try (TestClient client = new TestClient(uri)) {
            return client.below();
        }
    }

    @Test
    void keysForbidden() {
        server.command("ACL", "SETUSER", "app3", "on", ">s3cret", "~app:*", "&*", "+@all");
        assertThat(failure("redis://app3:s3cret@127.0.0.1:" + server.port()).getMessage())
                .startsWith("redis://127.0.0.1:" + server.port()
                        + "/0 does not let the user app3 run scripts with keys that begin with holdfast: NOPERM")
                .endsWith("(grant both, for example: ACL SETUSER app3 +@scripting ~holdfast:*)");
    }

    /**
     * Whether the scripts or their keys are refused is found out by a script without keys, not from an error's text.
     */
    @Test
    void keysForbiddenInOtherWords() throws Exception {
        try (FakeServer silent = new FakeServer("redis_version:7.0.0")) {
            assertThat(failure("redis://127.0.0.1:" + silent.port()).getMessage())
                    .startsWith(
                            "redis://127.0.0.1:" + silent.port()
                                    + "/0 does not let the default user run scripts with keys that begin with holdfast: NOPERM");
        }
    }

    /** Found out now, not when a lock has been written and its expiry is refused. */
    @Test
    void commandsForbidden() {
        server.command("ACL", "SETUSER", "app4", "on", ">s3cret", "~*", "&*", "+@all", "-pexpire", "-zadd", "-zrank");
        assertThat(failure("redis://app4:s3cret@127.0.0.1:" + server.port()))
                .hasMessage("redis://127.0.0.1:" + server.port() + "/0 does not let the user app4 run all commands that"
                        + " the mode lua uses (grant them: ACL SETUSER app4 +pexpire +zrank)");
        server.command("ACL", "SETUSER", "app4", "+pexpire", "+zrank");
        assertThat(failure("redis://app4:s3cret@127.0.0.1:" + server.port()).getMessage())
                .endsWith("(grant them: ACL SETUSER app4 +zadd)");
        assertThat((List<?>) server.command("KEYS", "holdfast:*probe*")).isEmpty();
    }

    /** What passes by itself is no reason not to start. */
    @Test
    void aReplicaCanBeOpened() {
        try (RedisServer replica = RedisServer.start()) {
            replica.command("REPLICAOF", "127.0.0.1", "1");
            new TestClient(replica.uri()).close();
        }
    }

    /** SCRIPT LOAD and INFO are a convenience, not a need. */
    @Test
    void onlyEvalAllowed() {
        server.command("ACL", "SETUSER", "app2", "on", ">pw", "~*", "&*", "+@all", "-script", "-info");
        server.command("SCRIPT", "FLUSH");
        try (TestClient client = new TestClient("redis://app2:pw@127.0.0.1:" + server.port())) {
            client.release("n", client.hold("n"));
        }
    }

    /** The rights that the documentation names are enough for everything. */
    @Test
    void leastRights() {
        server.command("ACL", "SETUSER", "least", "on", ">pw", "resetchannels");
        server.command(("ACL SETUSER least ~app:* ~holdfast:* &holdfast:c:* &redisson_lock__channel:* " + LEAST_RIGHTS)
                .split(" "));
        server.command("SCRIPT", "FLUSH");
        String uri = "redis://least:pw@127.0.0.1:" + server.port();
        try (TestClient a = new TestClient(uri);
                TestClient b = new TestClient(uri)) {
            String holder = a.hold("app:1");
            String next = b.queue("app:1");
            a.await("contended app:1 " + holder, 1_000);
            a.renew("app:1", holder, 30_000, 1, true);
            assertThat(a.inspect("app:1").waiting()).isEqualTo(1);
            assertThat(a.releaseAndRequeue("app:1", holder, a.newHolder()).requeued())
                    .isInstanceOf(Busy.class);
            b.await("granted app:1 " + next, 1_000);
            assertThat(b.abandon("app:1", next)).isTrue();
            assertThat(TestClient.get(b.store.forceRelease("app:1", null)).isEnded())
                    .isTrue();
            server.command("HSET", "app:1", "4a0e1b1e-0000-0000-0000-000000000000:1", "1");
            b.queue("app:1");
            b.await("released app:1", 1_000);
        }
    }

    static final String LEAST_RIGHTS =
            "+evalsha +eval +script|load +time +del +type +exists +pttl +pexpire +pexpireat +get +set +incr"
                    + " +hlen +hget +hstrlen +hset +hdel +persist +hgetall"
                    + " +zadd +zrem +zremrangebyscore +zscore +zcard +zrank +zrange +zrevrange"
                    + " +publish +pubsub +subscribe +unsubscribe +ping +info +client";

    /** Many times: the driver forgets what was answered when the server hangs up faster than its thread asks for it. */
    @Test
    void tooManyClients() {
        try (RedisServer small = RedisServer.start()) {
            small.command("CONFIG", "SET", "maxclients", "1");
            for (int i = 0; i < 20; i++) {
                StoreException error = failure(small.uri());
                assertThat(error)
                        .hasMessage(
                                "redis://127.0.0.1:" + small.port() + "/0 refused: ERR max number of clients reached"
                                        + " (raise its maxclients, or close connections)");
                assertThat(error.outcome()).isEqualTo(StoreException.Outcome.NOT_EXECUTED);
            }
        }
    }

    /** Locks work, and waiting clients poll. */
    @Test
    void messagesForbidden() {
        server.command("ACL", "SETUSER", "deaf", "on", ">pw", "~*", "resetchannels", "+@all");
        try (TestClient deaf = new TestClient("redis://deaf:pw@127.0.0.1:" + server.port())) {
            String holder = deaf.hold("deaf");
            String waiting = deaf.queue("deaf");
            deaf.release("deaf", holder);
            assertThat(deaf.acquire("deaf", waiting, 30_000, true)).isInstanceOf(Granted.class);
        }
    }

    /** A subscription that the server refused after a reconnect is tried again. */
    @Test
    void messagesForbiddenForAWhile() {
        server.command("ACL", "SETUSER", "moody", "on", ">pw", "~*", "&*", "+@all");
        try (TestClient moody = new TestClient("redis://moody:pw@127.0.0.1:" + server.port() + "?timeout=2s");
                TestClient other = new TestClient(server.uri())) {
            server.command("ACL", "SETUSER", "moody", "resetchannels");
            server.command("CLIENT", "KILL", "TYPE", "pubsub");
            await().until(() -> listeners(moody) == 0);
            server.command("ACL", "SETUSER", "moody", "allchannels");
            moody.await("reconnected", 5_000);
            await().until(() -> listeners(moody) == 1 && listeners(other) == 1);
            String holder = other.hold("moody");
            String waiting = moody.queue("moody");
            other.release("moody", holder);
            moody.await("granted moody " + waiting, 1_000);
        }
    }

    private static long listeners(TestClient client) {
        List<?> reply = (List<?>) server.command("PUBSUB", "NUMSUB", "holdfast:c:" + client.id);
        return (Long) reply.get(1);
    }

    @Test
    void tooOld() throws Exception {
        try (FakeServer old = new FakeServer("redis_version:4.0.14")) {
            StoreException error = failure("redis://127.0.0.1:" + old.port());
            assertThat(error)
                    .hasMessage("redis://127.0.0.1:" + old.port()
                            + "/0 is Redis 4.0.14, which is too old (expected: Redis 5.0 or newer, or Valkey)");
            assertThat(error.outcome()).isEqualTo(StoreException.Outcome.FATAL);
        }
    }

    @Test
    void notRedis() throws Exception {
        try (ServerSocket web = new ServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
            Thread answers = new Thread(() -> {
                try {
                    while (true) {
                        Socket socket = web.accept();
                        socket.getOutputStream()
                                .write("HTTP/1.1 400 Bad Request\r\n\r\n".getBytes(StandardCharsets.UTF_8));
                        socket.getOutputStream().flush();
                    }
                } catch (IOException e) {
                    // Closed at the end of the test.
                }
            });
            answers.start();
            assertThat(failure("redis://127.0.0.1:" + web.getLocalPort() + "?timeout=500ms")
                            .getMessage())
                    .startsWith("redis://127.0.0.1:" + web.getLocalPort() + "/0 ");
        }
    }

    private static StoreException failure(String uri) {
        return catchThrowableOfType(StoreException.class, () -> new TestClient(uri).close());
    }

    private static String allMessages(Throwable error) {
        StringBuilder all = new StringBuilder();
        for (Throwable cause = error; cause != null; cause = cause.getCause()) {
            all.append(cause.getMessage()).append('\n');
        }
        return all.toString();
    }

    /** Answers as a server from before HELLO. Knows PING, INFO and scripts without keys, and forbids all others. */
    private static final class FakeServer implements AutoCloseable {

        private final ServerSocket socket = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
        private final String info;

        FakeServer(String info) throws IOException {
            this.info = info;
            Thread accepting = new Thread(() -> {
                try {
                    while (true) {
                        Socket client = socket.accept();
                        new Thread(() -> serve(client)).start();
                    }
                } catch (IOException e) {
                    // Closed at the end of the test.
                }
            });
            accepting.start();
        }

        int port() {
            return socket.getLocalPort();
        }

        private void serve(Socket client) {
            try (client) {
                BufferedReader in =
                        new BufferedReader(new InputStreamReader(client.getInputStream(), StandardCharsets.UTF_8));
                for (String line = in.readLine(); line != null; line = in.readLine()) {
                    int parts = Integer.parseInt(line.substring(1));
                    List<String> words = new ArrayList<>();
                    for (int i = 0; i < parts; i++) {
                        char[] word = new char[Integer.parseInt(in.readLine().substring(1))];
                        int length = 0;
                        while (length < word.length) {
                            length += in.read(word, length, word.length - length);
                        }
                        in.readLine();
                        words.add(new String(word));
                    }
                    String command = words.get(0);
                    String answer = switch (command) {
                        case "PING" -> "+PONG\r\n";
                        case "EVAL", "EVALSHA" -> words.get(2).equals("0") ? ":1\r\n" : "-NOPERM not for you\r\n";
                        case "INFO" -> "$" + (info.length() + 2) + "\r\n" + info + "\r\n\r\n";
                        default -> "-ERR unknown command '" + command + "'\r\n";
                    };
                    client.getOutputStream().write(answer.getBytes(StandardCharsets.UTF_8));
                    client.getOutputStream().flush();
                }
            } catch (IOException e) {
                // The client has gone.
            }
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }
}
