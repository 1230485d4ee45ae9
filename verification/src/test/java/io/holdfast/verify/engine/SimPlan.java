package io.holdfast.verify.engine;

import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * What histories are made of. A long one has users of several kinds, for half a minute; {@code -Dbusy=N} makes that N
 * seconds, in which as much goes wrong. A short one has users of one kind, for three seconds: {@code -Dshort}. The seed
 * draws the kind, or {@code -Dshort=locks} names it. Where the stores have no pools, it is always a kind without them.
 */
final class SimPlan {

    /** Who uses the servers. */
    enum Kind {
        LOCKS,
        PERMITS,
        READERS,
        LEADERS
    }

    private static final @Nullable String SHORT = System.getProperty("short");

    static final boolean IS_SHORT = SHORT != null;

    /** How long users ask, and how long it takes for all that goes wrong to have gone wrong. */
    static final Duration BUSY_TIME = Duration.ofSeconds(Long.getLong("busy", IS_SHORT ? 3 : 30));

    private static final List<Kind> DRAWN = SHORT == null || SHORT.isEmpty() || SHORT.equals("true")
            ? List.of(Kind.LOCKS, Kind.LOCKS, Kind.PERMITS, Kind.READERS, Kind.LEADERS)
            : List.of(Kind.valueOf(SHORT.toUpperCase(Locale.ROOT)));

    private SimPlan() {}

    /** @param drawn whether a long history of the seed has users of this kind */
    static boolean has(Kind kind, long seed, boolean hasPools, boolean drawn) {
        return IS_SHORT ? kind == only(seed, hasPools) : drawn;
    }

    private static Kind only(long seed, boolean hasPools) {
        Kind only = DRAWN.get(new SplittableRandom(~seed ^ 0x73686F7274L).nextInt(DRAWN.size()));
        return hasPools || only == Kind.LEADERS ? only : Kind.LOCKS;
    }
}
