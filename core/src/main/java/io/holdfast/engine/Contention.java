package io.holdfast.engine;

import static java.util.Objects.requireNonNull;
import static java.util.concurrent.TimeUnit.MILLISECONDS;

import io.holdfast.LockStoreException;
import io.holdfast.log.Quoted;
import io.holdfast.spi.AcquireReply;
import io.holdfast.spi.AcquireReply.Busy;
import io.holdfast.spi.AcquireReply.Granted;
import io.holdfast.spi.ClockReading;
import io.holdfast.spi.DurationText;
import io.holdfast.spi.PushedGrant;
import io.holdfast.spi.ReleaseReply;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.TimeSource;
import io.holdfast.store.StoreErrors;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The part of {@link NameState} that gets the name from the store for the local waiters: one attempt at a time, however
 * many wait.
 *
 * <p>Invariant: an attempt that is given up is withdrawn at the store if it may have left something there. It is
 * withdrawn once more when the command under way is answered, unless that left nothing (engine rule 4).
 */
public final class Contention {

    /** A store's expiry is rounded to milliseconds; ask after it, not at it. */
    private static final long EXPIRY_SLACK_NANOS = 2_000_000;

    /** Time for a foreign client to send the second of two commands. */
    private static final long SECOND_CHECK_NANOS = 50_000_000;

    private static final long RETRY_FIRST_NANOS = 50_000_000;
    private static final long RETRY_MAX_NANOS = 1_000_000_000;

    /** Time for the store's first answer to a waiter, however short the wait: engine rule 7 allows a round trip. */
    private static final long FIRST_ANSWER_NANOS = 100_000_000;

    private final NameState state;
    private @Nullable Attempt attempt;

    Contention(NameState state) {
        this.state = state;
    }

    boolean isActive() {
        return attempt != null;
    }

    boolean isFor(String holderId) {
        return attempt != null && attempt.holderId.equals(holderId);
    }

    /** Returns why the last command failed; null if the store has given a good answer since. */
    @Nullable
    StoreException lastError() {
        return attempt == null ? null : attempt.lastError;
    }

    boolean wasBusyFor(Waiter waiter) {
        return attempt != null && attempt.wasBusyFor(waiter);
    }

    /** Returns the sending of the command that is under way; null if none is. */
    @Nullable
    ClockReading commandUnderWay() {
        return attempt != null && attempt.inFlight ? attempt.sent : null;
    }

    /** Returns whether the first command whose answer the waiter can hear is not answered yet. */
    @SuppressWarnings("ReferenceEquality") // two sendings may have one time
    boolean isUnanswered(Waiter waiter) {
        return waiter.command != null && waiter.command == commandUnderWay();
    }

    private long sinceSending() {
        ClockReading sent = commandUnderWay();
        return sent == null ? 0 : now() - sent.nanos();
    }

    /**
     * Returns for how long the waiter, whose time has passed, still waits for the first answer; zero if not at all. The
     * waiter may wait for a second command, if the first told nothing of the name; so its end is bounded, too.
     */
    long firstAnswerDueIn(Waiter waiter) {
        if (!isUnanswered(waiter)) {
            return 0;
        }
        long over = now() - waiter.arrivedNanos - waiter.waitNanos;
        return Math.max(0, FIRST_ANSWER_NANOS - Math.max(over, sinceSending()));
    }

    /**
     * Returns whether the waiter, whose time has passed, knows nothing of the name: no answer has come while it waited.
     * An attempt without a wait asks nothing if others contend here: for it the name is in use.
     */
    boolean isSilentFor(Waiter waiter) {
        return attempt != null && waiter.waitNanos > 0 && (isUnanswered(waiter) || !attempt.wasBusyFor(waiter));
    }

    /** Returns the failure of such a wait. */
    LockStoreException silence(Waiter waiter) {
        Duration waited = Duration.ofNanos(now() - waiter.arrivedNanos);
        return new LockStoreException(
                state.effects.describeStore() + " did not answer within " + DurationText.rounded(waited)
                        + " whether the " + state.effects.described()
                        + (state.effects.isPlural() ? " are free" : " is free")
                        + " (expected: a store that answers in much less than the wait; see whether the server"
                        + " hangs, or cannot be reached)",
                state.effects.describeStore(),
                null);
    }

    /** Returns for how long the store has not answered; zero unless a command has waited for long. */
    long unheardNanos() {
        return attempt != null && sinceSending() >= FIRST_ANSWER_NANOS ? now() - attempt.lastGoodNanos : 0;
    }

    private long now() {
        return state.settings().time.nanoTime();
    }

    /** Returns the holder of the name in the last answer of the store; null if it is not known. */
    @Nullable
    public String holder() {
        return attempt == null ? null : attempt.holder;
    }

    /** Starts to contend if somebody waits, after a hold of this client. */
    void beginAfterTenure() {
        begin(true);
    }

    /** Starts to contend if somebody waits. */
    void begin() {
        begin(false);
    }

    private void begin(boolean afterTenure) {
        Waiter first = state.firstWaiter();
        if (first != null) {
            Attempt begun = state.effects.newAttempt(state.storeLease(first), !first.makesOneAttempt());
            begun.afterTenure = afterTenure;
            attempt = begun;
            ask(begun);
        }
    }

    /** Begins an attempt whose first command is about to be sent together with those for other names. */
    Attempt beginMulti(Waiter first) {
        Attempt begun = state.effects.newAttempt(state.storeLease(first), false);
        begun.inFlight = true;
        attempt = begun;
        return begun;
    }

    /**
     * Ends such an attempt, whose command took nothing. A waiter that arrived in the meantime asks by an id of its own.
     */
    void endMulti(Attempt answered) {
        answered.inFlight = false;
        if (answered == attempt) {
            attempt = null;
            begin();
        }
        answered.endAwaited();
    }

    /** Continues with an attempt whose first command is under way as part of a release. */
    void resume(Attempt begun) {
        begun.inFlight = true;
        begun.afterTenure = true;
        attempt = begun;
    }

    void onPoll() {
        if (attempt != null && !attempt.inFlight) {
            ask(attempt);
        }
    }

    /** The store has news of the name, or a new connection: ask now rather than at the next poll. */
    void onHint() {
        Attempt waiting = attempt;
        if (waiting == null) {
            return;
        }
        if (waiting.inFlight) {
            // The command under way may have been executed before the event that the hint is about.
            waiting.again = true;
        } else {
            ask(waiting);
        }
    }

    /**
     * A hold on the name was removed by force through this client, perhaps the hold that the store had just granted to
     * the attempt. Only an answer to a command that is sent from now on says what the attempt has.
     */
    void onForced() {
        Attempt waiting = attempt;
        if (waiting != null && !state.isForcing()) {
            waiting.doubtful = waiting.inFlight;
            onHint();
        }
    }

    /**
     * Handles a pushed grant of the attempt. The grant counts at once if the store's clock says for how long it lasts,
     * and that is long enough. Otherwise the store is asked again.
     */
    void onPushed(PushedGrant grant) {
        Attempt waiting = requireNonNull(attempt);
        ClockReading asked = waiting.sent;
        TimeSource time = state.settings().time;
        if (isDoubtful(waiting)
                || !state.effects.isCurrent(waiting)
                || asked == null
                || !state.settings().rules.isFromStore(grant, waiting.nonce())
                || !grant.isOfOneClock(asked.nanos())
                || !Hold.isBase(grant.base())) {
            onHint();
            return;
        }
        ClockReading heard = ClockReading.now(time);
        long sinceAsking = grant.sinceAskingMillis() * 1_000_000;
        long lease = grant.leaseMillis() * 1_000_000;
        Deadline deadline = state.settings().rules.pushedDeadline(asked, sinceAsking, heard, lease);
        if (deadline.remainingNanos(time) < lease / 2) {
            onHint();
            return;
        }
        attempt = null;
        Hold hold = state.effects.newHold(waiting, grant.base(), deadline, asked.nanos() + sinceAsking, lease);
        // The store counts since the grant, not since the message.
        hold.storeEndNanos = deadline.nanos();
        hold.contended = grant.waiting() > 0;
        state.tenure.begin(hold);
    }

    void onAcquired(Attempt answered, ClockReading sent, @Nullable AcquireReply reply, @Nullable Throwable error) {
        answered.inFlight = false;
        if (answered != attempt) {
            // Given up and withdrawn in the meantime. The withdrawal may have overtaken a step of the acquire.
            if (answered.queue || reply instanceof Granted || error != null) {
                withdraw(answered);
            }
            answered.endAwaited();
        } else if (reply instanceof Granted granted) {
            onGranted(answered, sent, granted);
        } else if (reply instanceof Busy busy) {
            onBusy(answered, busy);
        } else {
            onFailed(answered, StoreErrors.of(error));
        }
    }

    void onRequeued(Attempt answered, ClockReading sent, @Nullable ReleaseReply reply, @Nullable Throwable error) {
        AcquireReply acquired = reply == null ? null : reply.requeued();
        if (acquired != null || error != null) {
            onAcquired(answered, sent, acquired, error);
            return;
        }
        // The hold to release was gone, so nothing was queued.
        answered.inFlight = false;
        if (answered == attempt) {
            ask(answered);
        } else {
            answered.endAwaited();
        }
    }

    /** Gives the attempt up if nobody waits. Returns whether it did. */
    boolean giveUpUnawaited() {
        Attempt given = attempt;
        if (given == null || !state.hasNoWaiters()) {
            return false;
        }
        attempt = null;
        if (given.inFlight) {
            given.awaited = state.effects.awaitAnswer();
        }
        if (given.inFlight || given.mayBeKnown) {
            withdraw(given);
        }
        return true;
    }

    private void withdraw(Attempt given) {
        state.effects.abandon(given.holderId, given.leaseNanos);
    }

    private void ask(Attempt wanted) {
        Attempt asked = state.effects.isCurrent(wanted) ? wanted : replaced(wanted);
        asked.inFlight = true;
        asked.again = false;
        asked.doubtful = false;
        state.effects.sendAcquire(asked);
        if (!asked.busy) {
            // Instead of a command that told nothing of the name, such as one for several names.
            state.waiters().expectAnswer(asked);
        }
    }

    /** Replaces an attempt whose holder id another process from the same image may have. */
    private Attempt replaced(Attempt old) {
        if (old.mayBeKnown) {
            withdraw(old);
        }
        Attempt fresh = state.effects.newAttempt(old.leaseNanos, old.queue).continuing(old);
        attempt = fresh;
        return fresh;
    }

    private boolean isDoubtful(Attempt granted) {
        return granted.doubtful || state.isForcing();
    }

    private void onGranted(Attempt answered, ClockReading sent, Granted granted) {
        // Another process from the same image may have been granted the same: neither of the two uses it.
        if (isDoubtful(answered) || !state.effects.isCurrent(answered)) {
            answered.mayBeKnown = true;
            // While a force is under way, its end asks again.
            if (!state.isForcing()) {
                ask(answered);
            }
            return;
        }
        attempt = null;
        TimeSource time = state.settings().time;
        long promised = LeaseRules.promisedNanos(answered.leaseNanos, granted.atMostMillis());
        Deadline deadline = state.settings().rules.deadline(sent, ClockReading.now(time), promised);
        if (deadline.hasPassed(time)) {
            withdraw(answered);
            retryAfterLateAnswer(answered);
            return;
        }
        Hold hold = state.effects.newHold(answered, granted.base(), deadline, sent.nanos(), answered.leaseNanos);
        if (promised < answered.leaseNanos) {
            Deadline asked = state.settings().rules.deadline(sent, ClockReading.now(time), answered.leaseNanos);
            hold.promisedOnly(promised, sent.nanos(), asked);
        }
        hold.contended = granted.waiting() > 0;
        state.tenure.begin(hold);
    }

    /**
     * Tries again, because the store may have been slow only once. If every answer is late, gives up after the store
     * timeout, as for a failing store.
     */
    private void retryAfterLateAnswer(Attempt answered) {
        long since = answered.afterTooLate ? answered.tooLateSinceNanos : now();
        boolean hopeless =
                answered.afterTooLate && now() - since >= state.settings().storeTimeoutNanos();
        Waiter first = state.firstWaiter();
        // The next waiter may want a longer lease, and get that in time.
        if (first != null
                && (first.makesOneAttempt() || (hopeless && state.storeLease(first) <= answered.leaseNanos))) {
            state.fail(first, tooLate(answered));
        }
        begin();
        if (attempt != null && attempt.leaseNanos <= answered.leaseNanos) {
            attempt.afterTooLate = true;
            attempt.tooLateSinceNanos = since;
        }
    }

    private void onBusy(Attempt answered, Busy busy) {
        answered.lastGoodNanos = now();
        answered.lastError = null;
        answered.busy = true;
        answered.afterTooLate = false;
        answered.failures = 0;
        answered.mayBeKnown |= answered.queue;
        answered.holder = busy.holder();
        state.effects.reportHolder(busy.holder());
        if (busy.remainingMillis() == Busy.NO_EXPIRY) {
            checkTwice(answered, busy);
            return;
        }
        answered.endless = false;
        Waiter first = state.firstWaiter();
        if (!answered.queue && first != null && first.makesOneAttempt()) {
            state.waiters().remove(first);
            state.timeOut(first);
            if (giveUpUnawaited()) {
                return;
            }
        }
        if (!answered.queue || answered.again) {
            answered.queue = true;
            ask(answered);
        } else {
            state.effects.schedulePoll(untilNextPoll(busy));
        }
    }

    private LockStoreException tooLate(Attempt answered) {
        return new LockStoreException(
                "The store granted the " + state.effects.described() + " for "
                        + DurationText.of(Duration.ofNanos(answered.leaseNanos))
                        + ", and its answer came when that time was over (expected: a lease that is much longer than"
                        + " the store takes to answer)",
                state.effects.describeStore(),
                null);
    }

    /**
     * The name is held without expiry. A client that writes the key and its expiry by two commands is sometimes seen
     * between the two. So the store is asked a second time, within the first waiter's time, before all waiters fail.
     */
    private void checkTwice(Attempt answered, Busy busy) {
        if (answered.endless) {
            state.failAll(endless(busy));
            return;
        }
        answered.endless = true;
        Waiter first = state.firstWaiter();
        long left = first == null ? Waiter.NO_DEADLINE : first.leftNanos(now());
        state.effects.schedulePoll(Math.min(SECOND_CHECK_NANOS, left / 2));
    }

    private LockStoreException endless(Busy busy) {
        return new LockStoreException(
                "The lock " + Quoted.name(state.effects.name()) + " is held by " + Quoted.holder(busy.holder())
                        + " without expiry, so it may never become free"
                        + " (expected: a key with a time to live; remove the key if it is left over, or use another"
                        + " name)",
                state.effects.describeStore(),
                null);
    }

    /** Only the first client in the store's queue watches the holder's expiry; the others wait for the grant. */
    private long untilNextPoll(Busy busy) {
        long poll = state.settings().jittered(state.settings().pollNanos);
        if (busy.ahead() > 0 || busy.remainingMillis() < 0) {
            return poll;
        }
        // Saturating: a foreign key may be meant to last for centuries.
        return Math.min(poll, Math.min(poll, MILLISECONDS.toNanos(busy.remainingMillis())) + EXPIRY_SLACK_NANOS);
    }

    private void onFailed(Attempt answered, StoreException error) {
        answered.lastError = error;
        answered.mayBeKnown |= error.outcome() == StoreException.Outcome.UNKNOWN;
        LockStoreException why = StoreErrors.toUser(error, state.effects.describeStore());
        Waiter first = state.firstWaiter();
        if (first != null && first.makesOneAttempt()) {
            state.fail(first, why);
            if (giveUpUnawaited()) {
                return;
            }
        }
        EngineSettings settings = state.settings();
        long patience = settings.storeTimeoutNanos() - (now() - answered.lastGoodNanos);
        if (error.outcome() == StoreException.Outcome.FATAL || patience <= 0) {
            state.failAll(why);
            return;
        }
        answered.queue = true;
        long backoff = Math.min(RETRY_MAX_NANOS, RETRY_FIRST_NANOS << Math.min(10, answered.failures++));
        state.effects.schedulePoll(Math.min(settings.jittered(backoff), patience));
    }
}
