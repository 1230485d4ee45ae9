package io.holdfast;

import io.holdfast.spi.RenewReply;
import io.holdfast.spi.RenewRequest;
import org.jspecify.annotations.Nullable;

/**
 * When a hold is renewed, for how long, and what a confirmed renewal is worth. All state is in the {@link Hold} and in the
 * lease that is out on it; called under the lock of the name's engine.
 */
final class Upkeep {

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

    /** When to look at the hold next: at its end, at its lease's end, or for its renewal. */
    long nextLookNanos(Hold held, @Nullable ActiveLease out, long now) {
        long at = held.deadline.nanos();
        if (out != null) {
            if (out.limitNanos != ActiveLease.NO_LIMIT) {
                at = Math.min(at, out.limitNanos);
            }
            if (isKeptUp(held, out) && held.renewAtNanos != Hold.NEVER) {
                at = Math.min(at, Math.max(held.renewAtNanos, now));
            }
        }
        return at;
    }

    /** A lease is handed out on the hold. */
    void begin(Hold held, ActiveLease granted, boolean othersWaitHere, long now) {
        if (reachesLimit(held, granted)) {
            held.renewAtNanos = Hold.NEVER;
        } else if (held.renewAtNanos == Hold.NEVER) {
            held.renewAtNanos = now;
        } else if (!held.contended && othersWaitHere && now - held.lookedOutNanos >= settings.lookOutNanos) {
            held.renewAtNanos = Math.min(held.renewAtNanos, now);
        }
    }

    /** The length of the renewal that is sent now; zero if none is due. */
    long due(Hold held, @Nullable ActiveLease out, LeaseRules.Sent sent) {
        long now = sent.nanos();
        if (out == null
                || !isKeptUp(held, out)
                || held.renewAtNanos == Hold.NEVER
                || held.renewAtNanos - now > settings.renewEarlyNanos()) {
            return 0;
        }
        long length = clipped(held, out, now);
        if (length < Limits.LEASE_MIN.toNanos()) {
            // So near the lease's limit that nothing would be won.
            held.renewAtNanos = Hold.NEVER;
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
            LeaseRules.Sent sent,
            RenewReply.Renewed reply,
            LeaseRules.Sent now) {
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
        held.renewAtNanos = out != null && reachesLimit(held, out) ? Hold.NEVER : sent.nanos() + length / 3;
        held.unconfirmedNanos = Hold.NEVER;
        held.contended |= reply.waiting() > 0;
        return true;
    }

    /** Since when a renewal was due that is not confirmed; zero if none is due. */
    long lagNanos(Hold held, ActiveLease out) {
        if (!isKeptUp(held, out)) {
            return 0;
        }
        long due = held.unconfirmedNanos != Hold.NEVER ? held.unconfirmedNanos : held.renewAtNanos;
        return due == Hold.NEVER ? 0 : Math.max(0, settings.time.nanoTime() - due);
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
