package io.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockStoreException;
import io.holdfast.testkit.servers.ZooKeeperEnsemble;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** TLS by netty, which the other stores use as well. */
@Timeout(90)
class ZooKeeperTlsTest {

    private static final String PASSWORD = "throw-away";

    @Test
    void a_lock_is_taken_over_tls_and_only_from_servers_that_are_trusted(@TempDir Path dir) throws Exception {
        Path keys = dir.resolve("keys.p12");
        Path ca = dir.resolve("ca.pem");
        Path other = dir.resolve("other.pem");
        makeKey(keys, ca);
        makeKey(dir.resolve("other.p12"), other);
        try (ZooKeeperEnsemble server = ZooKeeperEnsemble.start(
                1,
                "-Dzookeeper.serverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory",
                "-Dzookeeper.client.portUnification=true",
                "-Dzookeeper.ssl.keyStore.location=" + keys,
                "-Dzookeeper.ssl.keyStore.password=" + PASSWORD,
                "-Dzookeeper.ssl.clientAuth=none")) {
            String uri = server.uri() + "?tls=true&timeout=10s&ca=";
            try (LockClient client = LockClient.connect(uri + ca);
                    Lease lease = client.acquire("secret")) {
                assertThat(lease.isValid()).isTrue();
            }
            assertThatThrownBy(() -> LockClient.connect((uri + other).replace("10s", "1s")))
                    .isInstanceOf(LockStoreException.class)
                    .hasMessageContaining("no TLS connection to 127.0.0.1:" + server.port(0)
                            + ": its certificate is not from a CA in " + other + " (name the right CA with ca=")
                    .hasRootCauseInstanceOf(GeneralSecurityException.class);
        }
    }

    /** Mutual TLS: the servers let a client in only if it shows a certificate that they trust. */
    @Test
    @Tag("deep")
    void servers_that_ask_for_a_certificate_get_the_one_of_the_uri(@TempDir Path dir) throws Exception {
        Path keys = dir.resolve("keys.p12");
        Path ca = dir.resolve("ca.pem");
        Path known = dir.resolve("known.pem");
        makeKey(keys, ca);
        makeKey(dir.resolve("client.p12"), known);
        makeKey(dir.resolve("stranger.p12"), dir.resolve("stranger-ca.pem"));
        try (ZooKeeperEnsemble server = ZooKeeperEnsemble.start(
                1,
                "-Dzookeeper.serverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory",
                "-Dzookeeper.client.portUnification=true",
                "-Dzookeeper.ssl.keyStore.location=" + keys,
                "-Dzookeeper.ssl.keyStore.password=" + PASSWORD,
                "-Dzookeeper.ssl.trustStore.location=" + known,
                // By default a server has a port for TLS alone; ours serves both.
                "-Dzookeeper.authProvider.x509=org.apache.zookeeper.server.auth.X509AuthenticationProvider",
                "-Dzookeeper.ssl.clientAuth=need")) {

            String uri = server.uri() + "?tls=true&ca=" + ca;
            Path mine = withKey(dir.resolve("client.p12"), dir.resolve("mine.pem"));
            try (LockClient client = LockClient.connect(uri + "&timeout=10s&cert=" + mine);
                    Lease lease = client.acquire("secret")) {
                assertThat(lease.isValid()).isTrue();
            }
            Path strange = withKey(dir.resolve("stranger.p12"), dir.resolve("stranger.pem"));
            for (String other : List.of("", "&cert=" + strange)) {
                assertThatThrownBy(() -> LockClient.connect(uri + "&timeout=1s" + other))
                        .isInstanceOf(LockStoreException.class)
                        .hasMessageContaining(
                                other.isEmpty() ? "cert= must name one" : "the servers must trust " + strange);
            }
        }
    }

    /** Certificate and private key in one PEM file. */
    private static Path withKey(Path store, Path pem) throws Exception {
        KeyStore keys = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(store)) {
            keys.load(in, PASSWORD.toCharArray());
        }
        Key key = keys.getKey("server", PASSWORD.toCharArray());
        return Files.writeString(
                pem,
                pem("PRIVATE KEY", key.getEncoded())
                        + pem("CERTIFICATE", keys.getCertificate("server").getEncoded()));
    }

    private static String pem(String what, byte[] content) {
        String text = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(content);
        return "-----BEGIN " + what + "-----\n" + text + "\n-----END " + what + "-----\n";
    }

    private static void makeKey(Path store, Path certificate) throws Exception {
        keytool(
                "-genkeypair",
                "-keyalg",
                "EC",
                "-dname",
                "CN=Test",
                "-ext",
                "san=ip:127.0.0.1",
                "-keystore",
                store.toString());
        keytool("-exportcert", "-rfc", "-file", certificate.toString(), "-keystore", store.toString());
    }

    private static void keytool(String... args) throws Exception {
        List<String> line = new ArrayList<>();
        line.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
        line.addAll(List.of("-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC"));
        line.addAll(List.of(args));
        line.addAll(List.of("-alias", "server", "-storetype", "PKCS12", "-storepass", PASSWORD));
        Process process = new ProcessBuilder(line).redirectErrorStream(true).start();
        process.getOutputStream().close();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(said).isZero();
    }
}
