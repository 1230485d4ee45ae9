package io.holdfast.redis.lua;

import io.holdfast.spi.Finding;
import java.util.ArrayList;
import java.util.List;

/**
 * The rights of this user to run scripts at a server. The opening tries it once, when the store is opened. Without any
 * of these rights, locks are as safe, and slower.
 *
 * @param digests whether scripts may be called by their digest (EVALSHA); otherwise each call carries the text (EVAL)
 * @param pushes whether scripts may publish, so that a release can grant the lock to the next client and notify it;
 *     otherwise a release leaves the lock free, and the releasing client sends a hint
 * @param batches whether a script may compute its keys and use those of several slots, so that one command renews many
 *     holds; false, too, if that could not be tried
 */
public record Allowed(boolean digests, boolean pushes, boolean batches) {

    /** A server without restrictions. */
    public static final Allowed ALL = new Allowed(true, true, true);

    public Allowed withoutDigests() {
        return new Allowed(false, pushes, batches);
    }

    public Allowed withPushes(boolean now) {
        return new Allowed(digests, now, batches);
    }

    public Allowed withBatches(boolean now) {
        return new Allowed(digests, pushes, now);
    }

    /** Returns the missing rights, for people. */
    public List<Finding> findings() {
        List<Finding> missing = new ArrayList<>();
        if (!digests) {
            missing.add(Finding.warning(
                    "rights",
                    "the server refuses EVALSHA, so each command sends the text of its script, up to 20 KB",
                    "allow +evalsha"));
        }
        if (!pushes) {
            missing.add(Finding.warning(
                    "rights",
                    "scripts may not publish, so a release leaves the lock free and sends a hint after it; the order of"
                            + " clients is approximate",
                    "allow +publish and the channels of clients"));
        }
        if (!batches) {
            missing.add(Finding.warning(
                    "rights",
                    "no script could use keys of two slots when this client started, so each hold is renewed by its own"
                            + " command",
                    "nothing to do behind a proxy or in a cluster; otherwise start the client again when the server"
                            + " accepts writes; expect one command for each hold every third of a lease"));
        }
        return missing;
    }
}
