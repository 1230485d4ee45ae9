package io.holdfast.redis.server;

import io.lettuce.core.SslOptions;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The PEM files that a URI names for TLS.
 *
 * @param ca the certificates to trust; null for the JVM's
 * @param certificate the client's certificate, for servers that require one; null for none
 * @param key the certificate's key, PKCS 8 without a password; null if there is no certificate
 */
public record TlsFiles(
        @Nullable Path ca,
        @Nullable Path certificate,
        @Nullable Path key) {

    public static final TlsFiles NONE = new TlsFiles(null, null, null);

    /**
     * Reads {@code ca}, {@code cert} and {@code key}.
     *
     * @throws IllegalArgumentException if one cannot be read or does not fit
     */
    static TlsFiles of(Map<String, String> options, boolean tls) {
        TlsFiles files = new TlsFiles(file("ca", options, tls), file("cert", options, tls), file("key", options, tls));
        if ((files.certificate == null) != (files.key == null)) {
            throw RedisUris.wrong(
                    files.key == null ? "cert without key" : "key without cert",
                    "both, a client's certificate and its key");
        }
        return files;
    }

    /** Returns the driver's options; null for its defaults. */
    @Nullable
    public SslOptions options(Duration timeout) {
        if (ca == null && certificate == null) {
            return null;
        }
        SslOptions.Builder options = SslOptions.builder().jdkSslProvider().handshakeTimeout(timeout);
        if (ca != null) {
            options.trustManager(ca.toFile());
        }
        if (certificate != null && key != null) {
            options.keyManager(certificate.toFile(), key.toFile(), new char[0]);
        }
        return options.build();
    }

    private static @Nullable Path file(String option, Map<String, String> options, boolean tls) {
        String text = options.get(option);
        if (text == null) {
            return null;
        }
        if (!tls) {
            throw RedisUris.wrong(option + ": \"" + text + "\"", "only with rediss://");
        }
        try {
            Path file = Path.of(text);
            if (Files.isRegularFile(file) && Files.isReadable(file)) {
                return file;
            }
        } catch (InvalidPathException e) {
            // The exception below reports it.
        }
        throw RedisUris.wrong(option + ": \"" + text + "\"", "a PEM file that can be read");
    }
}
