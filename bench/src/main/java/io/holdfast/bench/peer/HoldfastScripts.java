package io.holdfast.bench.peer;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Holdfast's own scripts and their arguments, for peers that run them without the engine. */
final class HoldfastScripts {

    /** The prefix of the clients' channels. */
    static final String CHANNELS = "holdfast:c:";

    private static final String POLL_MILLIS = "1000";

    private HoldfastScripts() {}

    static String text(String... parts) {
        List<String> texts = new ArrayList<>();
        texts.add("local GRANT, RELEASES = 'PUBLISH', {{'PUBLISH', 'NUMSUB'}}");
        texts.add(resource("push"));
        for (String part : parts) {
            texts.add(resource(part));
        }
        return String.join("\n", texts);
    }

    static String[] keys(String name) {
        String start = "holdfast:{" + name + "}:";
        return new String[] {name, start + "q:" + name, start + "s:" + name, start + "b:" + name};
    }

    /** Returns arguments of the same lengths as Holdfast's. */
    static String[] acquireArgs(String name, String holder, String leaseMillis, boolean queue) {
        String notAfter = Long.toString(System.currentTimeMillis() + 3_000);
        return new String[] {
            CHANNELS, channel(name), holder, leaseMillis, POLL_MILLIS, queue ? "1" : "0", notAfter, "0", "0"
        };
    }

    static String[] releaseArgs(String name, String holder) {
        return new String[] {CHANNELS, channel(name), holder, "", "0", "0", "0"};
    }

    private static String channel(String name) {
        return "redisson_lock__channel:{" + name + "}";
    }

    private static String resource(String name) {
        String path = "/io/holdfast/redis/" + name + ".lua";
        try (InputStream in = HoldfastScripts.class.getResourceAsStream(path)) {
            return new String(requireNonNull(in, path).readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
