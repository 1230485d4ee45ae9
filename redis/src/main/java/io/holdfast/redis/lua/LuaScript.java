package io.holdfast.redis.lua;

import io.holdfast.redis.connect.Publishing;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;

/**
 * The scripts. Each is a resource beside this class, whose head documents its arguments and its reply. Each has two
 * forms: one notifies waiting clients itself ({@code push.lua}), the other leaves that to its caller ({@code
 * silent.lua}).
 */
public enum LuaScript {
    ACQUIRE("acquire", "holders", "common"),
    ACQUIRE_ALL("acquire-all"),
    RENEW("renew"),
    /** The same script with its keys written out, for one hold. */
    RENEW_ONE("renew") {
        @Override
        String adapted(String text) {
            return text.replace("KEYS[lock]", "KEYS[1]").replace("KEYS[queue]", "KEYS[2]");
        }
    },
    RELEASE("release", "common"),
    ABANDON("abandon", "common"),
    FORCE("force", "holders", "common"),
    INSPECT("inspect", "holders", "common"),
    PROBE("probe"),
    PROBE_HOLD("probe-hold"),

    QUORUM_TAKE("quorum-take", "holders", "quorum-common"),
    QUORUM_EXTEND("quorum-extend"),
    QUORUM_RELEASE("quorum-release", "holders", "quorum-common"),
    QUORUM_LEAVE("quorum-leave", "holders", "quorum-common"),
    QUORUM_COMMIT("quorum-commit", "holders", "quorum-common"),
    QUORUM_INSPECT("quorum-inspect", "holders", "quorum-common"),
    QUORUM_FORCE("quorum-force", "holders", "quorum-common"),
    QUORUM_LOOK("quorum-look"),
    QUORUM_ADMIT("quorum-admit");

    /** The scripts of a store on one server or cluster. */
    public static final List<LuaScript> OF_STORES =
            Stream.of(values()).filter(script -> !script.isOfMembers()).toList();

    /** The scripts of a quorum's member. */
    public static final List<LuaScript> OF_MEMBERS =
            Stream.of(values()).filter(LuaScript::isOfMembers).toList();

    private static final String PUSH = read("push");
    private static final String SILENT = read("silent");

    private final String text;

    /** @param before the resources that the script needs, put before it */
    LuaScript(String resource, String... before) {
        StringBuilder joined = new StringBuilder();
        for (String common : before) {
            joined.append(read(common)).append('\n');
        }
        this.text = joined.append(adapted(read(resource))).toString();
    }

    private boolean isOfMembers() {
        return name().startsWith("QUORUM_");
    }

    /**
     * Returns the text for the server.
     *
     * @param pushes whether the script publishes its messages, in this way, or leaves that to its caller. A member's
     *     messages are hints, sent by pcall, so one text serves both
     */
    public String text(Publishing publishing, boolean pushes) {
        return isOfMembers() ? text : (pushes ? publishing.head() + PUSH : SILENT) + "\n" + text;
    }

    /** Returns the name that the server knows the script by. Takes time, so keep it. */
    String digest(Publishing publishing, boolean pushes) {
        try {
            byte[] text = text(publishing, pushes).getBytes(StandardCharsets.UTF_8);
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-1").digest(text));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("Every JVM has SHA-1", e);
        }
    }

    boolean isRenewal() {
        return this == RENEW || this == RENEW_ONE;
    }

    String adapted(String raw) {
        return raw;
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
}
