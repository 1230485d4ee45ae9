package io.holdfast.redis.lua;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The scripts. Each is a resource beside this class; its head documents arguments and result. A store's script has two
 * forms: one notifies waiting clients itself ({@code push.lua}), the other leaves that to its caller ({@code
 * silent.lua}).
 */
public enum LuaScript {
    ACQUIRE("clock", "acquire-short", "holders", "counter", "queue", "common", "acquire"),
    ACQUIRE_ALL("clock", "counter", "acquire-all"),
    RENEW("clock", "renew-short", "renew"),
    /** Renews one hold: the same script with its calls and keys written out. */
    RENEW_ONE("clock", "renew-short", "renew") {
        @Override
        String adapted(String text) {
            return SHORT_CALL
                    .matcher(text)
                    .replaceAll("redis.$1(")
                    .replace("keys[i]", "KEYS[1]")
                    .replace("keys[holds + i]", "KEYS[2]");
        }
    },
    RELEASE("release-short", "clock", "counter", "queue", "common", "release"),
    ABANDON("clock", "counter", "queue", "common", "abandon"),
    FORCE("clock", "holders", "counter", "queue", "common", "force"),
    INSPECT("clock", "holders", "counter", "queue", "common", "inspect"),
    FIND_RECORD("find-record"),
    KEEP_RECORD("keep-record"),
    PROBE("probe"),
    PROBE_HOLD("probe-hold"),

    POOL_ACQUIRE("clock", "counter", "queue", "pool", "pool-take", "pool-acquire"),
    POOL_RENEW("clock", "pool-renew"),
    /** Renews one hold: the same script with its calls and keys written out. */
    POOL_RENEW_ONE("clock", "pool-renew") {
        @Override
        String adapted(String text) {
            return SHORT_CALL
                    .matcher(text)
                    .replaceAll("redis.$1(")
                    .replace("keys[2 * rows + row]", "KEYS[3]")
                    .replace("keys[rows + row]", "KEYS[2]")
                    .replaceAll("keys\\[(1|row)\\]", "KEYS[1]")
                    .replace("unpack(moved)", "moved[1], moved[2]");
        }
    },
    POOL_RELEASE("clock", "counter", "queue", "pool", "pool-take", "pool-release"),
    POOL_ABANDON("clock", "counter", "queue", "pool", "pool-abandon"),
    POOL_FORCE("clock", "counter", "queue", "pool", "pool-force"),
    POOL_INSPECT("clock", "counter", "queue", "pool", "pool-inspect"),

    QUORUM_TAKE("clock", "holders", "quorum-common", "quorum-take"),
    QUORUM_EXTEND("clock", "quorum-extend"),
    QUORUM_RELEASE("clock", "holders", "quorum-common", "quorum-release"),
    QUORUM_LEAVE("clock", "holders", "quorum-common", "quorum-leave"),
    QUORUM_COMMIT("clock", "holders", "quorum-common", "quorum-commit"),
    QUORUM_INSPECT("clock", "holders", "quorum-common", "quorum-inspect"),
    QUORUM_FORCE("clock", "holders", "quorum-common", "quorum-force"),
    QUORUM_LOOK("clock", "quorum-look"),
    QUORUM_ADMIT("clock", "quorum-admit"),
    QUORUM_PROBE("quorum-probe");

    /** The scripts of a store on one server or cluster. */
    public static final List<LuaScript> OF_STORES = Stream.of(values())
            .filter(script -> !script.isOfMembers() && !script.isOfPools())
            .toList();

    /** The scripts of the pools of such a store. */
    public static final List<LuaScript> OF_POOLS =
            Stream.of(values()).filter(LuaScript::isOfPools).toList();

    /** The scripts of a quorum's member. */
    public static final List<LuaScript> OF_MEMBERS =
            Stream.of(values()).filter(LuaScript::isOfMembers).toList();

    /** A call by a local variable. */
    private static final Pattern SHORT_CALL = Pattern.compile("(?<![.\\w])(p?call)\\(");

    /** The suffix of the resources that are short paths. */
    private static final String SHORT = "-short";

    /** The place of a short path at which it publishes a release. */
    private static final String RELEASED = "RELEASED";

    /** The texts of resources, each read when the first script needs it. */
    private static final Map<String, String> TEXTS = new ConcurrentHashMap<>();

    @SuppressWarnings("ImmutableEnumChecker") // a list that nothing can change
    private final List<String> resources;

    /** @param resources in their order; resources up to the short path precede the publishing functions */
    LuaScript(String... resources) {
        this.resources = List.of(resources);
    }

    private boolean isOfMembers() {
        return name().startsWith("QUORUM_");
    }

    private boolean isOfPools() {
        return name().startsWith("POOL_");
    }

    /**
     * Returns the text that the server receives.
     *
     * @param pushes whether the script itself notifies other clients, or leaves that to its caller. A member's messages
     *     are hints, sent by pcall, so its scripts have one form
     */
    public String text(ScriptHead head, boolean pushes) {
        if (isOfMembers()) {
            return joined(resources);
        }
        // The short path and what it needs precede the functions that notify other clients.
        int early = 0;
        for (int i = 0; i < resources.size(); i++) {
            early = resources.get(i).endsWith(SHORT) ? i + 1 : early;
        }
        String release = pushes ? head.publishing().release() : "0";
        return joined(resources.subList(0, early)).replace(RELEASED, release)
                + (pushes ? head.text() + read("push") : read("silent"))
                + "\n"
                + joined(resources.subList(early, resources.size()));
    }

    private String joined(List<String> some) {
        return some.stream().map(resource -> adapted(read(resource)) + '\n').collect(Collectors.joining());
    }

    /** Returns the SHA-1 digest. Expensive: callers cache it. */
    String digest(ScriptHead head, boolean pushes) {
        return sha1(text(head, pushes));
    }

    boolean isRenewal() {
        return this == RENEW || this == RENEW_ONE;
    }

    String adapted(String raw) {
        return raw;
    }

    private static String read(String resource) {
        return TEXTS.computeIfAbsent(resource, LuaScript::load);
    }

    private static String load(String resource) {
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
