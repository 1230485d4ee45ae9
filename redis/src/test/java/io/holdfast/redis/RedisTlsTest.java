package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.junit.jupiter.api.Assumptions.abort;

import io.holdfast.spi.StoreException;
import io.holdfast.testkit.servers.RedisServer;
import io.holdfast.testkit.servers.ThrowAwayCa;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RedisTlsTest {

    @TempDir
    static Path dir;

    private static ThrowAwayCa ca;
    private static ThrowAwayCa otherCa;
    private static RedisServer server;
    private static int tlsPort;

    @BeforeAll
    static void start() throws Exception {
        ca = new ThrowAwayCa(dir.resolve("ca"), "ip:127.0.0.1");
        otherCa = new ThrowAwayCa(dir.resolve("other"), "ip:127.0.0.1");
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            tlsPort = free.getLocalPort();
        }
        try {
            server =
                    RedisServer.builder().args(ca.redisArguments(tlsPort, "no")).start();
        } catch (IllegalStateException e) {
            abort("This Redis server was built without TLS: " + e.getMessage());
        }
    }

    @AfterAll
    static void stop() {
        if (server != null) {
            server.close();
        }
    }

    @Test
    void worksWithTheServersCa() {
        try (TestClient a = new TestClient(uri("127.0.0.1", ca));
                TestClient b = new TestClient(uri("127.0.0.1", ca))) {
            String holder = a.hold("n");
            String next = b.queue("n");
            a.release("n", holder);
            b.await("granted n " + next, 2_000);
            assertThat(a.store.describe()).isEqualTo("rediss://127.0.0.1:" + tlsPort + "/0");
        }
    }

    @Test
    void refusesAServerThatTheJvmDoesNotTrust() {
        StoreException error = failure("rediss://127.0.0.1:" + tlsPort);
        assertThat(error.outcome()).isEqualTo(StoreException.Outcome.FATAL);
        assertThat(error.getMessage())
                .startsWith("No TLS connection to rediss://127.0.0.1:" + tlsPort + "/0: ")
                .contains("?ca=/path/ca.pem");
    }

    @Test
    void refusesAnotherCa() {
        assertThat(failure(uri("127.0.0.1", otherCa)).getMessage())
                .startsWith("No TLS connection to rediss://127.0.0.1:" + tlsPort + "/0: ")
                .contains(otherCa.ca().toString());
    }

    @Test
    void refusesACertificateForSomebodyElse() {
        assertThat(failure(uri("localhost", ca)).getMessage())
                .startsWith("No TLS connection to rediss://localhost:" + tlsPort + "/0: ")
                .contains("the certificate must be for localhost");
    }

    @Test
    void saysThatThePortSpeaksNoTls() {
        assertThat(failure("rediss://127.0.0.1:" + server.port() + "?timeout=1s")
                        .getMessage())
                .contains("did not answer within 1 s (see that it is a Redis server whose port speaks TLS");
    }

    @Test
    void saysThatThePortSpeaksTls() {
        assertThat(failure("redis://127.0.0.1:" + tlsPort + "?timeout=1s").getMessage())
                .contains("a server with TLS needs rediss://");
    }

    private static String uri(String host, ThrowAwayCa trusted) {
        return "rediss://" + host + ":" + tlsPort + "?ca=" + trusted.ca();
    }

    private static StoreException failure(String uri) {
        return catchThrowableOfType(StoreException.class, () -> new TestClient(uri).close());
    }
}
