package io.holdfast.cli.commands;

import io.holdfast.LockClient;
import io.holdfast.LockStoreException;
import io.holdfast.Permits;
import io.holdfast.PermitsState;
import io.holdfast.spi.Names;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Permits, for commands whose NAME may mean them. A lock and permits of one name are two things, so such a command looks
 * for both. {@link Permits#SHOWN_PREFIX} before a name means permits, unless a lock has all of that name.
 */
final class PoolView {

    /** So many holders are named in a message. */
    private static final int NAMED_MAX = 5;

    private PoolView() {}

    /** Returns the name of the permits that may be meant by this name. */
    static String name(String name) {
        return isExplicit(name) ? name.substring(Permits.SHOWN_PREFIX.length()) : name;
    }

    /** Returns whether the user wrote that permits are meant. */
    static boolean isExplicit(String name) {
        return name.startsWith(Permits.SHOWN_PREFIX) && name.length() > Permits.SHOWN_PREFIX.length();
    }

    /** Returns the permits that may be meant; empty if the store has none. */
    static Optional<Permits> of(LockClient client, String name) {
        // Looks and releases by force do not depend on the limit.
        return client.hasPermits() ? Optional.of(client.permits(name(name), 1)) : Optional.empty();
    }

    /** Names who holds permits, for a message. They may have become free since the wait ended. */
    static String holders(Permits permits) {
        PermitsState state;
        try {
            state = permits.inspect();
        } catch (LockStoreException e) {
            return "the holders are unknown (" + e.getMessage() + ")";
        }
        String named = state.holds().stream()
                .map(PermitsState.Hold::title)
                .distinct()
                .limit(NAMED_MAX)
                .collect(Collectors.joining(", "));
        long more =
                state.holds().stream().map(PermitsState.Hold::title).distinct().count() - NAMED_MAX;
        return state.used() + " of " + permits.limit() + " permits are held"
                + (named.isEmpty() ? "" : " by " + Names.printable(named))
                + (more > 0 ? " and " + more + " more" : "")
                + (state.used() + permits.weight() <= permits.limit() && state.waiting() > 0
                        ? "; others wait for more of them"
                        : "");
    }
}
