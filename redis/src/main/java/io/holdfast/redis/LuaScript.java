package io.holdfast.redis;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * The scripts, each a resource beside this class whose head says what it takes and answers. Each in two forms: one tells
 * waiting clients itself ({@code push.lua}), the other leaves that to its caller ({@code plain.lua}).
 */
enum LuaScript {
    ACQUIRE("acquire", true),
    RENEW("renew", false),
    /** The same with its keys written out, so that it is good for one hold. */
    RENEW_ONE("renew", false) {
        @Override
        String adapted(String text) {
            return text.replace("KEYS[lock]", "KEYS[1]").replace("KEYS[queue]", "KEYS[2]");
        }
    },
    RELEASE("release", true),
    ABANDON("abandon", true),
    FORCE("force", true),
    INSPECT("inspect", true),
    PROBE("probe", false);

    private final String pushingText;
    private final String pushingDigest;
    private final String plainText;
    private final String plainDigest;

    LuaScript(String resource, boolean usesCommon) {
        String rest = (usesCommon ? read("common") + "\n" : "") + adapted(read(resource));
        this.pushingText = read("push") + "\n" + rest;
        this.pushingDigest = sha1(pushingText);
        this.plainText = read("plain") + "\n" + rest;
        this.plainDigest = sha1(plainText);
    }

    /** What the server is given. */
    String text(boolean pushes) {
        return pushes ? pushingText : plainText;
    }

    /** What the server calls it. */
    String digest(boolean pushes) {
        return pushes ? pushingDigest : plainDigest;
    }

    String adapted(String text) {
        return text;
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
