package io.holdfast.engine;

import io.holdfast.spi.ClockReading;
import io.holdfast.spi.RenewReply;
import io.holdfast.spi.RenewRequest;
import org.jspecify.annotations.Nullable;

/**
 * The rules of renewal: when a hold is renewed or looked at, for how long it is renewed, and what a confirmed renewal
 * is worth. All state is in the {@link Hold} and in the lease that is out on it; called under the lock of the name.
 *
 * <p>Invariant: while a lease is out whose owner lives, the store is asked about its hold every third of a regular
 * lease. So the loss of the hold is noticed within that time. A look asks about a hold that must not be lengthened.
 */
final class Upkeep {

    /** Below this fraction of its length, a hold is renewed before it is handed on. */
    private static final int HAND_OFF_MARGIN = 5;

    private final EngineSettings settings;

    Upkeep(EngineSettings settings) {
        this.settings = settings;
    }

    /** Whether the lease is renewed. A store that promised only a part of a fixed length is asked for the rest. */
    private boolean isKeptUp(Hold held, ActiveLease out) {
        Thread owner = out.owner();
        return out.renewed ? owner == null || settings.isAlive.test(owner) : held.isPartlyPromised();
    }

    /** Whether the store is asked about the hold from time to time. */
    private boolean isAskedAbout(Hold held, ActiveLease out) {
        return held.looksOnly || isKeptUp(held, out);
    }

    /**
     * Returns when the hold is due: at its end, at its lease's end, or to ask the store. Depends on the state alone, so
     * that {@link Tenure#settle} can ask after each event whether the time has moved.
     */
    long dueNanos(Hold held, @Nullable ActiveLease out) {
        long at = held.deadline.nanos();
        if (out != null) {
            if (out.hasLimit()) {
                at = Math.min(at, out.limitNanos());
            }
            if (isAskedAbout(held, out)) {
                at = Math.min(at, held.renewAtNanos);
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

    /** Returns the renewal or look that is sent now; null if none is due. */
    @Nullable
    RenewRequest dueRenewal(Hold held, @Nullable ActiveLease out, ClockReading sent, String name) {
        if (out == null || !isAskedAbout(held, out) || held.renewAtNanos - sent.nanos() > earlyNanos(held, sent)) {
            return null;
        }
        // A length of zero makes it a look.
        long length = lengthNow(held, out, sent);
        return RenewRequest.extend(name, held.holderId(), length / 1_000_000, held.sequence);
    }

    /**
     * Returns how early a renewal may come, so that it shares a command with others. Anything may run the timer at any
     * time, so this is also a promise to the server. A hold whose last renewal failed or has no answer keeps its pause.
     * A hold that the store promises for less than a lease is not renewed before a fifth of that.
     */
    private long earlyNanos(Hold held, ClockReading sent) {
        if (held.renewalFailing || held.unconfirmedNanos != Hold.NEVER) {
            return settings.retryEarlyNanos();
        }
        return Math.min(settings.renewEarlyNanos(), held.deadline.remainingNanos(sent) / 6);
    }

    private long lengthNow(Hold held, ActiveLease out, ClockReading sent) {
        long now = sent.nanos();
        long length = held.looksOnly ? 0 : clipped(held, out, now);
        if (length < Limits.LEASE_MIN.toNanos()) {
            // Or the lease's limit is so near that a renewal would gain nothing.
            onlyLooks(held, now);
            return 0;
        }
        if (held.unconfirmedNanos == Hold.NEVER) {
            held.unconfirmedNanos = held.renewAtNanos;
        }
        // If this renewal stays unanswered, the next one goes out while there is still time for it. Not sooner: that
        // would load a server that is late because of its load. While enough of the lease is left, the time is the one
        // that an answer sets, so that the answer does not move the hold in the timer's queue.
        held.renewAtNanos =
                now + Math.max(length / 12, Math.min(length / 3, held.deadline.remainingNanos(sent) * 3 / 5));
        held.noteAsked(length);
        return length;
    }

    private void onlyLooks(Hold held, long now) {
        held.looksOnly = true;
        held.unconfirmedNanos = Hold.NEVER;
        held.renewAtNanos = now + settings.leaseNanos / 3;
    }

    /** Counts a look that the store answered: the hold was there, and nothing more is known. */
    void onSeen(Hold held, RenewReply.Renewed reply, ClockReading sent) {
        held.contended |= reply.waiting() > 0;
        if (held.looksOnly) {
            held.renewAtNanos = sent.nanos() + settings.leaseNanos / 3;
        }
    }

    /**
     * Counts a forward jump of the wall clock, as after a suspension. The store's clock may have gone on as well: the
     * rest of the deadlines is counted by the monotonic clock from now on, so that their end is seen in time, and the
     * store is asked now.
     */
    void onClockJumped(Hold held, ClockReading now) {
        held.deadline = held.deadline.asOf(now);
        held.asked = held.asked.asOf(now);
        askNow(held, now.nanos());
    }

    void askNow(Hold held, long now) {
        if (held.renewAtNanos - now > 0) {
            held.renewAtNanos = now;
        }
    }

    /** Plans the next renewal after a failed one: soon, as only the rest of the lease is left. */
    void onRenewalFailed(Hold held, long now) {
        held.renewAtNanos = now + settings.leaseNanos / 12;
    }

    /**
     * Counts a renewal that the store confirmed. Returns false if that came too late for the hold to be relied on.
     *
     * @param out the lease that is out now: the renewal may have been sent for the lease before it
     * @param now read after the reply came
     */
    boolean onRenewed(
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
            held.asked = deadline;
        }
        if (request.exact() || deadline.nanos() - held.deadline.nanos() > 0) {
            held.deadline = deadline;
            held.storeEndNanos = now.nanos() + length;
        }
        held.unconfirmedNanos = Hold.NEVER;
        held.renewAtNanos = sent.nanos() + Math.min(length, settings.leaseNanos) / 3;
        if (out == null || request.exact()) {
            // The next lease decides, or the end of this one has moved.
            held.looksOnly = false;
        }
        if (out != null && !held.looksOnly && needsNoRenewal(held, out)) {
            onlyLooks(held, sent.nanos());
        }
        held.contended |= reply.waiting() > 0;
        return true;
    }

    /**
     * Returns whether the hold has a length that suits the next waiter's lease. A lease with a length of its own must
     * end by then at the store too, and only a setting makes sure of that: a renewal sent before may be executed after
     * this. Any other lease needs time enough for its first renewal, and no more than a regular lease: if this process
     * dies, the name is free within that time.
     */
    boolean hasRightLength(Hold held, Waiter next) {
        return next.boundNanos() == 0
                && !held.mayOutlast(settings.leaseNanos, settings.time.nanoTime())
                && held.deadline.remainingNanos(settings.time)
                        >= Math.min(settings.leaseNanos, held.leaseNanos) / HAND_OFF_MARGIN;
    }

    /** Returns the request that sets the length for the next waiter's lease, and notes that it is about to be sent. */
    RenewRequest settingRequest(Hold held, Waiter next, String name) {
        long length = next.storeLeaseNanos(settings.leaseNanos);
        boolean exact = next.boundNanos() > 0 || held.mayOutlast(length, settings.time.nanoTime());
        if (exact) {
            held.sequence++;
        }
        held.noteAsked(Math.max(held.leaseNanos, length));
        return exact
                ? RenewRequest.set(name, held.holderId(), length / 1_000_000, held.sequence)
                : RenewRequest.extend(name, held.holderId(), length / 1_000_000, held.sequence);
    }

    /**
     * Returns the request for a new time of the lease that is out, and notes that it is about to be sent.
     *
     * <p>A setting to less may be executed even if no answer comes. So from now on the lease ends no later than the
     * setting says; it ends later only after the answer.
     */
    RenewRequest extensionRequest(Hold held, LeaseExtension extension, ClockReading now, String name) {
        ActiveLease out = extension.lease();
        boolean unbounded = out.renewed && !out.hasLimit();
        long length = unbounded
                ? Math.max(extension.nanos(), settings.leaseNanos)
                : out.renewed ? Math.min(extension.nanos(), settings.leaseNanos) : extension.nanos();
        long millis = length / 1_000_000;
        held.noteAsked(length);
        held.storeEndNanos = Math.max(held.storeEndNanos, now.nanos() + length);
        if (unbounded) {
            return RenewRequest.extend(name, held.holderId(), millis, held.sequence);
        }
        held.sequence++;
        Deadline soonest = settings.rules.deadline(now, now, length);
        held.deadline = held.deadline.earlier(soonest);
        held.asked = held.asked.earlier(soonest);
        if (out.hasLimit()) {
            out.limitTo(Math.min(out.limitNanos(), now.nanos() + extension.nanos()));
        }
        return RenewRequest.set(name, held.holderId(), millis, held.sequence);
    }

    /** The store confirmed the new time: a limit moves to it before the confirmed length is counted. */
    void onExtended(LeaseExtension extension, ClockReading sent) {
        if (extension.lease().hasLimit()) {
            extension.lease().limitTo(sent.nanos() + extension.nanos());
        }
    }

    /** Says why the lease on a hold ends, if there is one, whose time or whose hold's time has passed. */
    String endReason(Hold held, @Nullable ActiveLease out) {
        if (out == null) {
            return "";
        }
        if (!out.renewed && !held.isPartlyPromised()) {
            return "its fixed time is over";
        }
        if (held.looksOnly || out.isAtLimit()) {
            return "its longest holding time is over";
        }
        return isKeptUp(held, out) ? "its time ran out without a successful renewal" : "its thread has died";
    }

    /** Returns the delay of the renewal that is due and not confirmed; zero if there is none. */
    long lagNanos(Hold held, ActiveLease out) {
        if (held.looksOnly || !isKeptUp(held, out)) {
            return 0;
        }
        long due = held.unconfirmedNanos != Hold.NEVER ? held.unconfirmedNanos : held.renewAtNanos;
        return Math.max(0, settings.time.nanoTime() - due);
    }

    /** Returns the length of a regular renewal: the full lease, but never beyond the lease's limit. */
    private long clipped(Hold held, ActiveLease out, long now) {
        long full = settings.leaseNanos;
        if (!out.renewed) {
            // The margin comes off again from what is promised.
            long rest = held.asked.nanos() - now;
            return Math.min(full, rest + settings.rules.driftMarginNanos(rest));
        }
        return out.hasLimit() ? Math.min(full, out.limitNanos() - now) : full;
    }

    private boolean needsNoRenewal(Hold held, ActiveLease out) {
        return out.renewed ? reachesLimit(held, out) : !held.isPartlyPromised();
    }

    /**
     * Returns whether the hold lasts for as long as the lease may, at the store and here, so that no renewal is needed
     * any more. The two differ if an answer was late: the store's countdown may have begun that much before the lease.
     */
    private boolean reachesLimit(Hold held, ActiveLease out) {
        if (!out.hasLimit() || held.storeEndNanos - out.limitNanos() < -1_000_000) {
            return false;
        }
        long missing = out.limitNanos() - held.deadline.nanos();
        return missing <= settings.rules.driftMarginNanos(held.leaseNanos) + Limits.LEASE_MIN.toNanos();
    }
}
