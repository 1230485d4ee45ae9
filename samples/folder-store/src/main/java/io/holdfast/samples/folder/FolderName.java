package io.holdfast.samples.folder;

import io.holdfast.spi.AcquireReply;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.ForceReply;
import io.holdfast.spi.RenewReply;
import io.holdfast.spi.RenewRequest;
import io.holdfast.spi.StoreState;
import org.jspecify.annotations.Nullable;

/**
 * One name at one instant: what its file says, and what each command makes of it. The decisions of the store are here,
 * without files, threads and clocks.
 */
final class FolderName {

    private static final String NOBODY = "-"; // in the place of a holder id
    static final String NEW = NOBODY + " 0 0 0"; // in the place of a file: holder, base, end and sequence

    private final long nowMillis;
    private String holder; // NOBODY, or a holder whose time is not over
    private long base; // outlives the hold, because the next base must be larger
    private long untilMillis;
    private long sequence; // of the last exact setting of this hold

    FolderName(String text, long nowMillis) {
        String[] fields = text.split(" ", -1);
        this.nowMillis = nowMillis;
        base = Long.parseLong(fields[1]);
        untilMillis = Long.parseLong(fields[2]);
        sequence = Long.parseLong(fields[3]);
        holder = untilMillis <= nowMillis ? NOBODY : fields[0];
    }

    String text() {
        return holder + " " + base + " " + untilMillis + " " + sequence;
    }

    AcquireReply acquire(AcquireRequest request) {
        if (holder.equals(NOBODY)) {
            holder = request.holderId();
            // The clock, so that bases also grow after somebody has deleted the files. 2^49 is far away.
            base = Math.max(base + 1, nowMillis * 16);
            untilMillis = nowMillis + request.leaseMillis();
            sequence = 0;
        } else if (!holder.equals(request.holderId())) {
            return new AcquireReply.Busy(untilMillis - nowMillis, 0, holder);
        } else if (sequence == 0) {
            // A repetition lengthens the hold. After an exact setting it is late, and must not undo the setting.
            untilMillis = Math.max(untilMillis, nowMillis + request.leaseMillis());
        }
        return new AcquireReply.Granted(base, 0);
    }

    RenewReply renew(RenewRequest request) {
        if (!holder.equals(request.holderId())) {
            return new RenewReply.Gone();
        }
        if (request.isLook()) {
            return new RenewReply.Renewed(0);
        }
        if (request.sequence() < sequence) {
            return new RenewReply.Superseded();
        }
        boolean repeated = request.sequence() == sequence;
        long until = nowMillis + request.leaseMillis();
        sequence = request.sequence();
        if (!request.exact()) {
            untilMillis = Math.max(untilMillis, until);
        } else if (!repeated) {
            untilMillis = until;
        } else if (untilMillis < until) {
            // Executed before. Time has passed since, so the full time is no longer there to be promised.
            return new RenewReply.Superseded();
        }
        return new RenewReply.Renewed(0);
    }

    /** Returns whether the id held the name. */
    boolean release(String holderId) {
        boolean held = holder.equals(holderId);
        holder = held ? NOBODY : holder;
        return held;
    }

    ForceReply forceRelease(@Nullable String expected) {
        String held = holder;
        if (held.equals(NOBODY)) {
            return new ForceReply.Free();
        }
        if (expected != null && !expected.equals(held)) {
            return new ForceReply.HeldBy(held);
        }
        holder = NOBODY;
        return new ForceReply.Ended(held);
    }

    StoreState inspect() {
        return holder.equals(NOBODY) ? StoreState.free(0) : new StoreState(holder, untilMillis - nowMillis, base, 0);
    }
}
