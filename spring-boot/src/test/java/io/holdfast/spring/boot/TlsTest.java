package io.holdfast.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.testkit.servers.Installation;
import io.holdfast.testkit.servers.RedisServer;
import io.holdfast.testkit.servers.ThrowAwayCa;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** TLS as Boot's settings say, to a server that lets in only clients with a certificate of its authority. */
class TlsTest {

    @TempDir
    static Path dir;

    private static ThrowAwayCa ca;
    private static RedisServer server;
    private static int port;

    @BeforeAll
    static void start() throws Exception {
        ca = new ThrowAwayCa(dir.resolve("ca"), "ip:127.0.0.1");
        server = withTls();
    }

    /** Not every build of the server can do it. */
    private static RedisServer withTls() {
        StringBuilder said = new StringBuilder();
        for (Installation installation : RedisServer.available()) {
            port = freePort();
            try {
                return RedisServer.builder()
                        .installation(installation)
                        .args(ca.redisArguments(port, "yes"))
                        .start();
            } catch (IllegalStateException e) {
                said.append('\n').append(e.getMessage());
            }
        }
        return abort("No Redis server here was built with TLS:" + said);
    }

    @AfterAll
    static void stop() {
        if (server != null) {
            server.close();
        }
    }

    @Test
    void a_bundle_gives_what_to_trust_and_what_to_show() {
        bundle(at(port))
                .withPropertyValues("spring.data.redis.ssl.bundle=locks")
                .run(context -> {
                    takes(context.getBean(LockClient.class));
                    assertThat(context.getBean(LockClient.class).describeStore())
                            .isEqualTo("rediss://127.0.0.1:" + port + "/0");
                });
    }

    @Test
    void a_bundle_with_nothing_to_show_is_not_let_in() {
        at(port).withPropertyValues(
                        "spring.ssl.bundle.pem.locks.truststore.certificate=" + ca.ca(),
                        "spring.data.redis.ssl.bundle=locks")
                .run(context -> assertThat(context).hasFailed());
    }

    /** Without a bundle it is what the JVM trusts, which does not know this authority. */
    @Test
    void ssl_enabled_and_a_url_with_tls_speak_tls() {
        at(port).withPropertyValues("spring.data.redis.ssl.enabled=true")
                .run(context -> assertThat(description(context.getStartupFailure()))
                        .contains("No TLS connection to rediss://127.0.0.1:" + port));
        Contexts.boot()
                .withPropertyValues("spring.data.redis.url=rediss://127.0.0.1:" + port)
                .run(context -> assertThat(description(context.getStartupFailure()))
                        .contains("No TLS connection to rediss://127.0.0.1:" + port));
        bundle(Contexts.boot())
                .withPropertyValues(
                        "spring.data.redis.url=rediss://127.0.0.1:" + port, "spring.data.redis.ssl.bundle=locks")
                .run(context -> takes(context.getBean(LockClient.class)));
    }

    @Test
    void how_the_peer_is_verified_is_as_the_users_own_factory_says() {
        int tls = freePort();
        try (RedisServer open = RedisServer.builder()
                .installation(server.installation())
                .args(ca.redisArguments(tls, "no"))
                .start()) {
            assertThat(open.isUp()).isTrue();
            Contexts.boot()
                    .withBean(RedisConnectionFactory.class, () -> factory(tls, true))
                    .run(context ->
                            assertThat(description(context.getStartupFailure())).contains("No TLS connection"));
            Contexts.boot()
                    .withBean(RedisConnectionFactory.class, () -> factory(tls, false))
                    .run(context -> takes(context.getBean(LockClient.class)));
        }
    }

    private static LettuceConnectionFactory factory(int port, boolean verify) {
        var tls = LettuceClientConfiguration.builder().useSsl();
        return new LettuceConnectionFactory(
                new RedisStandaloneConfiguration("127.0.0.1", port),
                (verify ? tls.and() : tls.disablePeerVerification().and()).build());
    }

    private static ApplicationContextRunner at(int port) {
        return Contexts.boot().withPropertyValues("spring.data.redis.host=127.0.0.1", "spring.data.redis.port=" + port);
    }

    private static ApplicationContextRunner bundle(ApplicationContextRunner application) {
        return application.withPropertyValues(
                "spring.ssl.bundle.pem.locks.truststore.certificate=" + ca.ca(),
                "spring.ssl.bundle.pem.locks.keystore.certificate=" + ca.certificate(),
                "spring.ssl.bundle.pem.locks.keystore.private-key=" + ca.key());
    }

    private static String description(Throwable failure) {
        return new LockStoreFailureAnalyzer().analyze(failure).getDescription();
    }

    private static void takes(LockClient client) throws InterruptedException {
        try (Lease lease = client.acquire("order:1")) {
            assertThat(lease.fencingToken()).isPositive();
        }
    }

    private static int freePort() {
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return free.getLocalPort();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
