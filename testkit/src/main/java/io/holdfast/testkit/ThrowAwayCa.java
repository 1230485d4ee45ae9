package io.holdfast.testkit;

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

/** A certificate authority for one test, and a server certificate of its, made by the JDK's keytool; all PEM files. */
public final class ThrowAwayCa {

    private static final String PASSWORD = "throw-away";

    private final Path ca;
    private final Path certificate;
    private final Path key;

    /**
     * Makes them.
     *
     * @param dir where the files go; made if it is not there
     * @param names for whom the server's certificate is, for example {@code ip:127.0.0.1}
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
        ca = pem(dir.resolve("ca.pem"), "CERTIFICATE", keys.getCertificate("ca").getEncoded());
        certificate = pem(
                dir.resolve("server.pem"),
                "CERTIFICATE",
                keys.getCertificate("server").getEncoded());
        key = pem(
                dir.resolve("server.key"),
                "PRIVATE KEY",
                keys.getKey("server", PASSWORD.toCharArray()).getEncoded());
    }

    /** The certificate to trust. */
    public Path ca() {
        return ca;
    }

    /** The server's certificate; good for a client, too. */
    public Path certificate() {
        return certificate;
    }

    /** The key of {@link #certificate}. */
    public Path key() {
        return key;
    }

    /**
     * What a {@link RedisServer} is started with so that it speaks TLS at this port, beside its own port without.
     *
     * @param clients whether a client needs a certificate of this authority: {@code yes}, {@code no} or {@code optional}
     */
    public String[] redisArguments(int port, String clients) {
        return new String[] {
            "--tls-port",
            Integer.toString(port),
            "--tls-cert-file",
            certificate.toString(),
            "--tls-key-file",
            key.toString(),
            "--tls-ca-cert-file",
            ca.toString(),
            "--tls-auth-clients",
            clients
        };
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
