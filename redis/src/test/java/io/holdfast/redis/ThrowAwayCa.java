package io.holdfast.redis;

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
final class ThrowAwayCa {

    private static final String PASSWORD = "throw-away";

    final Path ca;
    final Path certificate;
    final Path key;

    /** @param names for whom the server's certificate is, for example {@code ip:127.0.0.1} */
    ThrowAwayCa(Path dir, String names) throws IOException, InterruptedException, GeneralSecurityException {
        Files.createDirectories(dir);
        Path store = dir.resolve("keys.p12");
        keytool(store, "-genkeypair", "-alias", "ca", "-keyalg", "EC", "-dname", "CN=Test CA", "-ext", "bc:c");
        keytool(store, "-genkeypair", "-alias", "server", "-keyalg", "EC", "-dname", "CN=Test server");
        Path request = dir.resolve("server.csr");
        keytool(store, "-certreq", "-alias", "server", "-file", request.toString());
        certificate = dir.resolve("server.pem");
        keytool(
                store,
                "-gencert",
                "-rfc",
                "-alias",
                "ca",
                "-infile",
                request.toString(),
                "-outfile",
                certificate.toString(),
                "-ext",
                "san=" + names);
        ca = dir.resolve("ca.pem");
        keytool(store, "-exportcert", "-rfc", "-alias", "ca", "-file", ca.toString());

        KeyStore keys = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(store)) {
            keys.load(in, PASSWORD.toCharArray());
        }
        byte[] secret = keys.getKey("server", PASSWORD.toCharArray()).getEncoded();
        key = dir.resolve("server.key");
        Files.writeString(
                key,
                "-----BEGIN PRIVATE KEY-----\n"
                        + Base64.getMimeEncoder(64, "\n".getBytes(StandardCharsets.US_ASCII))
                                .encodeToString(secret)
                        + "\n-----END PRIVATE KEY-----\n");
    }

    private static void keytool(Path store, String... args) throws IOException, InterruptedException {
        List<String> line = new ArrayList<>();
        line.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
        line.addAll(List.of(args));
        line.addAll(List.of("-keystore", store.toString(), "-storetype", "PKCS12", "-storepass", PASSWORD));
        Process process = new ProcessBuilder(line).redirectErrorStream(true).start();
        process.getOutputStream().close();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (process.waitFor() != 0) {
            throw new IOException("keytool: " + said);
        }
    }
}
