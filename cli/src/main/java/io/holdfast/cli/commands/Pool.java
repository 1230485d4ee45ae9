package io.holdfast.cli.commands;

import io.holdfast.DistributedReadWriteLock;
import io.holdfast.ForcedRelease;
import io.holdfast.LockClient;
import io.holdfast.LockStoreException;
import io.holdfast.Permits;
import io.holdfast.PermitsState;
import io.holdfast.cli.view.PoolState;
import io.holdfast.cli.view.PoolState.Kind;
import io.holdfast.spi.Names;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Permits or a read-write lock, for commands whose NAME may mean them. These and a lock of one name are different
 * things, so such a command looks for all. A {@linkplain Kind#prefix prefix} before a name means one of them, unless a
 * lock has all of that name.
 */
sealed interface Pool {

    /** So many holders are named in a message. */
    int NAMED_MAX = 5;

    /** Returns what the store says now. */
    PoolState look();

    ForcedRelease forceRelease(String holder);

    boolean forceReleaseAll();

    /** Permits of any limit. */
    record OfPermits(Permits permits) implements Pool {

        @Override
        public PoolState look() {
            return PoolState.of(permits.inspect());
        }

        @Override
        public ForcedRelease forceRelease(String holder) {
            return permits.forceRelease(holder);
        }

        @Override
        public boolean forceReleaseAll() {
            return permits.forceReleaseAll();
        }
    }

    /** A read-write lock. */
    record OfReadWrite(DistributedReadWriteLock lock) implements Pool {

        @Override
        public PoolState look() {
            return PoolState.of(lock.inspect());
        }

        @Override
        public ForcedRelease forceRelease(String holder) {
            return lock.forceRelease(holder);
        }

        @Override
        public boolean forceReleaseAll() {
            return lock.forceReleaseAll();
        }
    }

    /** Returns whether the user wrote which kind is meant. */
    static boolean isExplicit(String name) {
        return List.of(Kind.values()).stream().anyMatch(kind -> isExplicit(kind, name));
    }

    private static boolean isExplicit(Kind kind, String name) {
        return name.startsWith(kind.prefix()) && name.length() > kind.prefix().length();
    }

    /** Returns what may be meant by this name; nothing if the store has neither. */
    static List<Pool> meantBy(LockClient client, String name) {
        List<Pool> meant = new ArrayList<>();
        for (Kind kind : client.hasPermits() ? Kind.values() : new Kind[0]) {
            if (isExplicit(kind, name)) {
                meant.add(of(client, kind, name.substring(kind.prefix().length())));
            } else if (!isExplicit(name)) {
                meant.add(of(client, kind, name));
            }
        }
        return meant;
    }

    private static Pool of(LockClient client, Kind kind, String name) {
        // Looks and releases by force do not depend on the limit.
        return kind == Kind.PERMITS
                ? new OfPermits(client.permits(name, 1))
                : new OfReadWrite(client.getReadWriteLock(name));
    }

    /** Names who holds permits, for a message. They may have become free since the wait ended. */
    static String holders(Permits permits) {
        PermitsState state;
        try {
            state = permits.inspect();
        } catch (LockStoreException e) {
            return unknown(e);
        }
        return state.used() + " of " + permits.limit() + " permits are held" + named(PoolState.of(state))
                + (state.used() + permits.weight() <= permits.limit() && state.waiting() > 0
                        ? "; others wait for more of them"
                        : "");
    }

    /** Names who reads or writes, for a message. */
    static String holders(DistributedReadWriteLock lock) {
        PoolState state;
        try {
            state = PoolState.of(lock.inspect());
        } catch (LockStoreException e) {
            return unknown(e);
        }
        return state.held()
                + named(state).replaceFirst("^ by ", ": ")
                + (state.waiting() > 0 ? "; others wait for it" : "");
    }

    private static String unknown(LockStoreException why) {
        return "the holders are unknown (" + why.getMessage() + ")";
    }

    private static String named(PoolState state) {
        List<String> titles =
                state.holds().stream().map(PoolState.Hold::title).distinct().toList();
        return (titles.isEmpty()
                        ? ""
                        : " by "
                                + Names.printable(
                                        titles.stream().limit(NAMED_MAX).collect(Collectors.joining(", "))))
                + (titles.size() > NAMED_MAX ? " and " + (titles.size() - NAMED_MAX) + " more" : "");
    }
}
