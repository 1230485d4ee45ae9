package io.holdfast.testkit.servers;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;

/**
 * A certificate authority for one test, and a server certificate that it signed, made by the JDK's keytool; all PEM
 * files.
 *
 * <pre>{@code
 * ThrowAwayCa ca = new ThrowAwayCa(folder, "ip:127.0.0.1");
 * try (RedisServer server = RedisServer.builder().args(ca.redisArguments(port, "no")).start();
 *         LockClient locks = LockClient.connect("rediss://127.0.0.1:" + port + "?ca=" + ca.ca())) {
 *     locks.run("order:42", lease -> orders.refund(42));
 * }
 * }</pre>
 */
public final class ThrowAwayCa {

    private static final String PASSWORD = "throw-away";

    private final ServerTls files;

    /**
     * Makes the certificates.
     *
     * @param dir the folder of the files; made if it does not exist
     * @param names the names in the server's certificate, for example {@code ip:127.0.0.1}
     */
    public ThrowAwayCa(Path dir, String names) throws IOException, InterruptedException, GeneralSecurityException {
        Files.createDirectories(dir);
        Path store = dir.resolve("keys.p12");
        keytool(store, "-alias", "ca", "-dname", "CN=Test CA", "-ext", "bc:c");
        keytool(store, "-alias", "server", "-dname", "CN=Test server", "-signer", "ca", "-ext", "san=" + names);
        KeyStore keys = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(store)) {
            keys.load(in, PASSWORD.toCharArray());
        }
        Path ca = pem(
                dir.resolve("ca.pem"), "CERTIFICATE", keys.getCertificate("ca").getEncoded());
        Path certificate = pem(
                dir.resolve("server.pem"),
                "CERTIFICATE",
                keys.getCertificate("server").getEncoded());
        Path key = pem(
                dir.resolve("server.key"),
                "PRIVATE KEY",
                keys.getKey("server", PASSWORD.toCharArray()).getEncoded());
        files = new ServerTls(certificate, key, ca);
    }

    /** Returns the certificate to trust. */
    public Path ca() {
        return files.ca();
    }

    /** Returns the server's certificate, which a client may use, too. */
    public Path certificate() {
        return files.certificate();
    }

    /** Returns the key of {@link #certificate}. */
    public Path key() {
        return files.key();
    }

    /**
     * Returns the arguments with which a {@link RedisServer} speaks TLS at this port, beside its plain port.
     *
     * @param clients whether a client needs a certificate of this authority: {@code yes}, {@code no} or {@code
     *     optional}
     */
    public String[] redisArguments(int port, String clients) {
        return files.arguments(port, clients).toArray(new String[0]);
    }

    private static Path pem(Path file, String label, byte[] content) throws IOException {
        String base64 = Base64.getMimeEncoder(64, "\n".getBytes(StandardCharsets.US_ASCII))
                .encodeToString(content);
        String text = "-----BEGIN " + label + "-----\n" + base64 + "\n-----END " + label + "-----\n";
        return Files.writeString(file, text);
    }

    private static void keytool(Path store, String... args) throws IOException, InterruptedException {
        List<String> line = new ArrayList<>();
        line.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
        line.addAll(List.of("-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC")); // half the time
        line.addAll(List.of("-genkeypair", "-keyalg", "EC", "-storetype", "PKCS12", "-storepass", PASSWORD));
        line.addAll(List.of("-keystore", store.toString()));
        line.addAll(List.of(args));
        Process process = new ProcessBuilder(line).redirectErrorStream(true).start();
        process.getOutputStream().close();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (process.waitFor() != 0) {
            throw new IOException("keytool: " + said);
        }
    }
}
