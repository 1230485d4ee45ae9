package io.holdfast.redis;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** The scripts, each a resource beside this class whose head says what it takes and answers. */
enum LuaScript {
    ACQUIRE("acquire", true),
    RENEW("renew", false),
    RELEASE("release", true),
    ABANDON("abandon", true),
    FORCE("force", true),
    INSPECT("inspect", true),
    PROBE("probe", false);

    private final String text;
    private final String digest;

    LuaScript(String resource, boolean usesCommon) {
        this.text = (usesCommon ? read("common") + "\n" : "") + read(resource);
        this.digest = sha1(text);
    }

    /** What the server is given. */
    String text() {
        return text;
    }

    /** What the server calls it. */
    String digest() {
        return digest;
    }

    private static String read(String resource) {
        try (InputStream in = LuaScript.class.getResourceAsStream(resource + ".lua")) {
            if (in == null) {
                throw new IllegalStateException(resource + ".lua is missing from the jar");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String sha1(String text) {
        try {
            byte[] hash = MessageDigest.getInstance("SHA-1").digest(text.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(hash);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("Every JVM has SHA-1", e);
        }
    }
}
