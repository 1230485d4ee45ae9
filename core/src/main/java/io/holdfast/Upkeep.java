package io.holdfast;

import io.holdfast.spi.ClockReading;
import io.holdfast.spi.RenewReply;
import io.holdfast.spi.RenewRequest;
import org.jspecify.annotations.Nullable;

/**
 * When a hold is renewed or looked at, for how long it is renewed, and what a confirmed renewal is worth. All state is in the
 * {@link Hold} and in the lease that is out on it; called under the lock of the name's engine.
 *
 * <p>Invariant: while a lease is out whose owner lives, the store is asked about its hold every third of a regular lease, so
 * that a hold that is gone is noticed within that. A hold that must not be lengthened is asked about by a look.
 */
final class Upkeep {

    /** What {@link #due} returns if there is nothing to ask the store. */
    static final long NOTHING_DUE = -1;

    private final EngineSettings settings;

    Upkeep(EngineSettings settings) {
        this.settings = settings;
    }

    boolean isRenewed(ActiveLease out) {
        return out.renewed && (out.owner == null || settings.isAlive.test(out.owner));
    }

    /** Whether it is renewed: also a lease of fixed length is, up to that, at a store that promised only a part of it. */
    boolean isKeptUp(Hold held, ActiveLease out) {
        return out.renewed ? isRenewed(out) : held.isPartlyPromised();
    }

    /** Whether the store is asked about it from time to time. */
    private boolean isAskedAbout(Hold held, ActiveLease out) {
        return held.looksOnly || isKeptUp(held, out);
    }

    /** When to look at the hold next: at its end, at its lease's end, or to ask the store. */
    long nextLookNanos(Hold held, @Nullable ActiveLease out, long now) {
        long at = held.deadline.nanos();
        if (out != null) {
            if (out.limitNanos != ActiveLease.NO_LIMIT) {
                at = Math.min(at, out.limitNanos);
            }
            if (isAskedAbout(held, out)) {
                at = Math.min(at, Math.max(held.renewAtNanos, now));
            }
        }
        return at;
    }

    /** A lease is handed out on the hold. */
    void begin(Hold held, ActiveLease granted, boolean othersWaitHere, long now) {
        if (needsNoRenewal(held, granted)) {
            held.looksOnly = true;
            held.renewAtNanos = now + settings.leaseNanos / 3;
        } else if (held.looksOnly) {
            held.looksOnly = false;
            held.renewAtNanos = now;
        } else if (!held.contended && othersWaitHere && now - held.lookedOutNanos >= settings.lookOutNanos) {
            held.renewAtNanos = Math.min(held.renewAtNanos, now);
        }
    }

    /** The length of the renewal that is sent now; zero for a look; {@link #NOTHING_DUE} if none is due. */
    long due(Hold held, @Nullable ActiveLease out, ClockReading sent) {
        long now = sent.nanos();
        if (out == null || !isAskedAbout(held, out) || held.renewAtNanos - now > settings.renewEarlyNanos()) {
            return NOTHING_DUE;
        }
        long length = held.looksOnly ? 0 : clipped(held, out, now);
        if (length < Limits.LEASE_MIN.toNanos()) {
            // Or so near the lease's limit that nothing would be won by a renewal.
            onlyLooks(held, now);
            return 0;
        }
        if (held.unconfirmedNanos == Hold.NEVER) {
            held.unconfirmedNanos = held.renewAtNanos;
        }
        // If this one stays unanswered, the next goes out while there is still time for it. Not sooner: a server that
        // is late because it has too much to do would get more to do.
        held.renewAtNanos = now + Math.max(length / 12, held.deadline.remainingNanos(sent) / 2);
        held.asking(length);
        return length;
    }

    private void onlyLooks(Hold held, long now) {
        held.looksOnly = true;
        held.unconfirmedNanos = Hold.NEVER;
        held.renewAtNanos = now + settings.leaseNanos / 3;
    }

    /** The store answered a look: the hold was there, and nothing more is known. */
    void seen(Hold held, RenewReply.Renewed reply, ClockReading sent) {
        held.contended |= reply.waiting() > 0;
        if (held.looksOnly) {
            held.renewAtNanos = sent.nanos() + settings.leaseNanos / 3;
        }
    }

    /**
     * The wall clock has jumped forward, as after a suspension. The store's clock may have gone on as well: what is left of the
     * deadlines is counted by the monotonic clock from now on, so that their end is seen in time, and the store is asked now.
     */
    void jumped(Hold held, ClockReading now) {
        held.deadline = held.deadline.asOf(now);
        held.asked = held.asked.asOf(now);
        askNow(held, now.nanos());
    }

    void askNow(Hold held, long now) {
        if (held.renewAtNanos - now > 0) {
            held.renewAtNanos = now;
        }
    }

    /** No answer, or none that helps: sooner than the regular renewals, as what is left of the lease is all there is. */
    void failed(Hold held, long now) {
        held.renewAtNanos = now + settings.leaseNanos / 12;
    }

    /**
     * Counts a renewal that the store confirmed. False if that came too late: the hold must not be relied on.
     *
     * @param out the lease that is out now: the renewal may have been sent for the one before
     * @param now read after the reply came
     */
    boolean confirmed(
            Hold held,
            @Nullable ActiveLease out,
            RenewRequest request,
            ClockReading sent,
            RenewReply.Renewed reply,
            ClockReading now) {
        if (!settings.rules.renewalCounts(held.deadline, now)) {
            return false;
        }
        long asked = request.leaseMillis() * 1_000_000;
        long length = LeaseRules.promisedNanos(asked, reply.atMostMillis());
        Deadline deadline = settings.rules.deadline(sent, now, length);
        if (request.exact()) {
            held.asked = settings.rules.deadline(sent, now, asked);
        } else if (out != null && !out.renewed) {
            deadline = deadline.earlier(held.asked);
        } else {
            held.asked = deadline; // one object less for each of many holds
        }
        if (request.exact() || deadline.nanos() - held.deadline.nanos() > 0) {
            held.deadline = deadline;
            held.storeEndNanos = now.nanos() + length;
        }
        held.unconfirmedNanos = Hold.NEVER;
        held.renewAtNanos = sent.nanos() + length / 3;
        if (out == null) {
            // The next lease decides.
            held.looksOnly = false;
        } else if (!held.looksOnly && needsNoRenewal(held, out)) {
            onlyLooks(held, sent.nanos());
        }
        held.contended |= reply.waiting() > 0;
        return true;
    }

    /** Since when a renewal was due that is not confirmed; zero if none is due. */
    long lagNanos(Hold held, ActiveLease out) {
        if (held.looksOnly || !isKeptUp(held, out)) {
            return 0;
        }
        long due = held.unconfirmedNanos != Hold.NEVER ? held.unconfirmedNanos : held.renewAtNanos;
        return Math.max(0, settings.time.nanoTime() - due);
    }

    /** The length of a regular renewal: the full lease, but never beyond the lease's limit. */
    private long clipped(Hold held, ActiveLease out, long now) {
        long full = settings.leaseNanos;
        if (!out.renewed) {
            // The margin comes off again from what is promised.
            long rest = held.asked.nanos() - now;
            return Math.min(full, rest + settings.rules.driftMarginNanos(rest));
        }
        return out.limitNanos == ActiveLease.NO_LIMIT ? full : Math.min(full, out.limitNanos - now);
    }

    private boolean needsNoRenewal(Hold held, ActiveLease out) {
        return out.renewed ? reachesLimit(held, out) : !held.isPartlyPromised();
    }

    /**
     * Whether the hold lasts at the store for as long as the lease may: then no renewal is needed any more. And here, too: if
     * the answer was late, the store's countdown may have begun that much before the lease.
     */
    private boolean reachesLimit(Hold held, ActiveLease out) {
        if (out.limitNanos == ActiveLease.NO_LIMIT || held.storeEndNanos - out.limitNanos < -1_000_000) {
            return false;
        }
        long missing = out.limitNanos - held.deadline.nanos();
        return missing <= settings.rules.driftMarginNanos(held.leaseNanos) + Limits.LEASE_MIN.toNanos();
    }
}
