package io.holdfast.zookeeper;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.spi.StoreException;
import io.holdfast.testkit.servers.ThrowAwayCa;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.CertificateException;
import java.util.concurrent.CompletableFuture;
import javax.net.ServerSocketFactory;
import javax.net.ssl.SSLServerSocket;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.common.ClientX509Util;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What a handshake that fails is called. The servers of these tests only shake hands. */
@Tag("deep")
@Timeout(60)
class TlsProbeTest {

    @TempDir
    private Path dir;

    @Test
    void a_server_that_is_trusted_has_no_failure() throws Exception {
        ThrowAwayCa ca = new ThrowAwayCa(dir.resolve("a"), "ip:127.0.0.1");
        try (ServerSocket server = tls(ca, false)) {
            assertThat(probe(server, ca)).isNull();
        }
    }

    @Test
    void an_unknown_ca_is_named() throws Exception {
        ThrowAwayCa ca = new ThrowAwayCa(dir.resolve("a"), "ip:127.0.0.1");
        ThrowAwayCa other = new ThrowAwayCa(dir.resolve("b"), "ip:127.0.0.1");
        try (ServerSocket server = tls(ca, false)) {
            assertThat(failure(server, other))
                    .hasMessageContaining(": no TLS connection to 127.0.0.1:" + server.getLocalPort()
                            + ": its certificate is not from a CA in " + other.ca() + " (name the right CA with ca=")
                    .hasCauseInstanceOf(TlsProbe.Failure.class);
        }
    }

    @Test
    void a_host_that_the_certificate_lacks_is_named() throws Exception {
        ThrowAwayCa ca = new ThrowAwayCa(dir.resolve("a"), "dns:zk.example");
        try (ServerSocket server = tls(ca, false)) {
            assertThat(failure(server, ca))
                    .hasMessageContaining("its certificate is not for this host: ")
                    .hasMessageContaining("127.0.0.1 found")
                    .hasRootCauseInstanceOf(CertificateException.class);
        }
    }

    @Test
    void a_server_that_wants_a_certificate_is_said_to_have_refused_the_client() throws Exception {
        ThrowAwayCa ca = new ThrowAwayCa(dir.resolve("a"), "ip:127.0.0.1");
        try (ServerSocket server = tls(ca, true)) {
            assertThat(failure(server, ca))
                    .hasMessageContaining("it refused this client: ")
                    .hasMessageContaining("cert= must name one");
        }
    }

    @Test
    void a_port_without_tls_is_said_to_be_one() throws Exception {
        ThrowAwayCa ca = new ThrowAwayCa(dir.resolve("a"), "ip:127.0.0.1");
        try (ServerSocket server =
                ServerSocketFactory.getDefault().createServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
            CompletableFuture<Void> answered = CompletableFuture.runAsync(() -> {
                try (Socket socket = server.accept()) {
                    socket.getOutputStream().write("no TLS here\n".repeat(10).getBytes(US_ASCII));
                    socket.getInputStream().readAllBytes();
                } catch (IOException e) {
                    // The other side has hung up.
                }
            });
            assertThat(failure(server, ca)).hasMessageContaining("the port does not speak TLS");
            answered.join();
        }
    }

    private StoreException failure(ServerSocket server, ThrowAwayCa trusted) {
        Throwable failure = probe(server, trusted);
        StoreException said = new ZooKeeperErrors(settings(server, trusted)).unreachable(1_000, failure);
        assertThat(said.outcome()).isEqualTo(StoreException.Outcome.FATAL);
        return said;
    }

    private static Throwable probe(ServerSocket server, ThrowAwayCa trusted) {
        ZooKeeperSettings settings = settings(server, trusted);
        return TlsProbe.failure(settings.servers(), CuratorConnector.config(settings), 20_000);
    }

    private static ZooKeeperSettings settings(ServerSocket server, ThrowAwayCa trusted) {
        return ZooKeeperSettings.parse(
                URI.create("zookeeper://127.0.0.1:" + server.getLocalPort() + "?tls=true&ca=" + trusted.ca()));
    }

    /** Accepts connections until it is closed. */
    private ServerSocket tls(ThrowAwayCa ca, boolean wantsCertificate) throws Exception {
        ZKClientConfig config = new ZKClientConfig();
        Path keys = Files.writeString(
                dir.resolve("keys.pem"), Files.readString(ca.key()) + Files.readString(ca.certificate()));
        SSLServerSocket server;
        try (ClientX509Util util = new ClientX509Util()) {
            config.setProperty(util.getSslKeystoreLocationProperty(), keys.toString());
            config.setProperty(util.getSslTruststoreLocationProperty(), ca.ca().toString());
            server = (SSLServerSocket) util.createSSLContext(config)
                    .getServerSocketFactory()
                    .createServerSocket(0, 5, InetAddress.getLoopbackAddress());
        }
        server.setNeedClientAuth(wantsCertificate);
        Thread thread = new Thread(() -> {
            while (!server.isClosed()) {
                try (Socket socket = server.accept()) {
                    socket.getInputStream().readAllBytes();
                } catch (IOException e) {
                    // This handshake failed, or the test is over.
                }
            }
        });
        thread.setDaemon(true);
        thread.start();
        return server;
    }
}
