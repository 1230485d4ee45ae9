package io.holdfast.engine;

import io.holdfast.LockException;
import io.holdfast.memory.VirtualTime;
import io.holdfast.spi.ClockReading;
import io.holdfast.spi.HolderId;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.RenewReply;
import io.holdfast.spi.RenewRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** A name without an engine: writes down what its {@link NameState} asks for, and does nothing else. */
final class RecordingEffects implements Effects, NameEvents {

    final VirtualTime time = new VirtualTime();
    final EngineSettings settings = new EngineSettings();
    final NameState state;
    private final Upkeep upkeep = new Upkeep(settings);

    /**
     * What was asked for since it was last taken, in words. Attempts and holds go by the number of their acquisition.
     */
    private final List<String> asked = new ArrayList<>();

    /** The attempts and holds so far, by the number of their acquisition. */
    final Map<Integer, Attempt> attempts = new TreeMap<>();

    final Map<Integer, Hold> holds = new TreeMap<>();

    /** The times at which the timer was asked to call. */
    final List<Long> due = new ArrayList<>();

    /** The lease that was out after the last event. */
    @Nullable
    ActiveLease published;

    /** The last renewal that sets a length. */
    @Nullable
    RenewRequest preparation;

    RecordingEffects() {
        settings.time = time;
        settings.clientId = "c";
        settings.leaseNanos = Duration.ofSeconds(3).toNanos();
        settings.random = bound -> 0;
        state = new NameState(this);
    }

    /** Returns what was asked for since the last call. */
    List<String> asked() {
        List<String> taken = List.copyOf(asked);
        asked.clear();
        return taken;
    }

    private void ask(String what) {
        asked.add(what);
    }

    private static long number(String holderId) {
        return HolderId.number(holderId);
    }

    @Override
    public LockStore store() {
        throw new UnsupportedOperationException("store");
    }

    @Override
    public boolean onTied(ActiveLease lease) {
        return state.tenure.onTied(lease);
    }

    @Override
    public String name() {
        return "a";
    }

    @Override
    public Collection<ActiveLease> blocking() {
        return List.of();
    }

    @Override
    public String storedName() {
        return "a";
    }

    @Override
    public String described() {
        return "lock";
    }

    @Override
    public boolean isPlural() {
        return false;
    }

    @Override
    public String describeStore() {
        return "store";
    }

    @Override
    public EngineSettings settings() {
        return settings;
    }

    @Override
    public Upkeep upkeep() {
        return upkeep;
    }

    @Override
    public Callbacks callbacks() {
        throw new UnsupportedOperationException();
    }

    // --- effects ---

    @Override
    public void sendAcquire(Attempt attempt) {
        attempt.markSending(time, () -> 0);
        ask("acquire " + attempt.acquisition + (attempt.queue ? " or queue" : ""));
    }

    @Override
    public void sendPreparation(Hold hold, RenewRequest request) {
        preparation = request;
        ask((request.exact() ? "set " : "extend ") + number(hold.holderId()) + " to " + request.leaseMillis() + " ms");
    }

    @Override
    public void sendExtension(Hold hold, LeaseExtension extension, RenewRequest request) {
        ask((request.exact() ? "set " : "extend ") + number(hold.holderId()) + " to " + request.leaseMillis()
                + " ms for its lease");
    }

    @Override
    public void sendRelease(Hold hold, @Nullable ActiveLease lease) {
        ask("release " + number(hold.holderId()));
    }

    @Override
    public void leave(Hold hold, ActiveLease lease) {
        ask("leave " + number(hold.holderId()));
    }

    @Override
    public void sendRetain(Hold hold, ActiveLease lease, long endNanos) {
        ask("retain " + number(hold.holderId()));
    }

    @Override
    public void sendReleaseAndRequeue(Hold hold, Attempt attempt) {
        attempt.markSending(time, () -> 0);
        ask("release " + number(hold.holderId()) + " and queue " + attempt.acquisition);
    }

    @Override
    public void abandon(String holderId, long leaseNanos) {
        ask("abandon " + number(holderId));
    }

    @Override
    public void abandon(Hold hold) {
        ask("abandon hold " + number(hold.holderId()));
    }

    @Override
    public Runnable awaitAnswer() {
        ask("await the answer");
        return () -> ask("answered");
    }

    @Override
    public void watchForLate(Attempt attempt) {
        ask("watch for late " + attempt.acquisition);
    }

    @Override
    public void scheduleTimeout(Waiter waiter, long delayNanos) {
        ask("end the wait after " + delayNanos / 1_000_000 + " ms");
    }

    @Override
    public void schedulePoll(long delayNanos) {
        ask("poll after " + delayNanos / 1_000_000 + " ms");
    }

    @Override
    public void watch(Hold hold, long atNanos) {
        due.add(atNanos);
    }

    @Override
    public Attempt newAttempt(long leaseNanos, boolean queue) {
        int number = attempts.size() + 1;
        Attempt attempt = new Attempt(number, HolderId.of("c", number), leaseNanos, queue, time.nanoTime());
        attempts.put(number, attempt);
        return attempt;
    }

    @Override
    public boolean isCurrent(Attempt attempt) {
        return true;
    }

    @Override
    public Hold newHold(Attempt attempt, long base, Deadline deadline, long sinceNanos, long leaseNanos) {
        Hold hold = new Hold(
                this, attempt.acquisition, base, deadline, time.nanoTime(), sinceNanos, leaseNanos, leaseNanos);
        holds.put((int) attempt.acquisition, hold);
        return hold;
    }

    @Override
    public void publish(@Nullable ActiveLease lease) {
        published = lease;
    }

    @Override
    public void nudge(Waiter waiter) {
        ask("nudge");
    }

    @Override
    public void completeWaiter(Waiter waiter, ActiveLease lease) {
        waiter.state = Waiter.State.GRANTED;
        ask("grant " + lease.fencingToken());
    }

    @Override
    public void failWaiter(Waiter waiter, Waiter.State outcome, @Nullable LockException why) {
        waiter.state = outcome;
        ask("no lease: " + outcome);
    }

    @Override
    public void endLease(ActiveLease lease, boolean wasGone) {
        ask("lease " + lease.fencingToken() + (wasGone ? " was gone" : " ended"));
    }

    @Override
    public void endExtension(LeaseExtension extension, @Nullable Throwable error) {
        ask("extension ended");
    }

    @Override
    public void reportLoss(ActiveLease lease, String why, boolean answered) {
        if (lease.lose(why)) {
            ask("lost: " + why);
        }
    }

    @Override
    public void reportRenewalFailure(Hold hold, Throwable cause) {
        ask("renewal failed");
    }

    @Override
    public void reportRenewalSuccess(Hold hold) {
        ask("renewed");
    }

    @Override
    public void reportForgotten(ActiveLease lease) {
        ask("forgotten");
    }

    @Override
    public void reportHolder(String holder) {}

    // --- events of waiters, leases and holds, which tests give to the state themselves ---

    @Override
    public void onClaim(Waiter waiter) {
        throw new UnsupportedOperationException();
    }

    @Override
    public @Nullable ActiveLease current() {
        throw new UnsupportedOperationException();
    }

    @Override
    public boolean onLeave(Waiter waiter, Waiter.State outcome, @Nullable LockException why) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void onDelivered(ActiveLease lease) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void onReleased(ActiveLease lease) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void onRetained(ActiveLease lease, long endNanos) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void onExtending(LeaseExtension extension) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void onLeaseOver(ActiveLease lease) {
        throw new UnsupportedOperationException();
    }

    @Override
    public @Nullable RenewRequest onRenewalDue(Hold hold, ClockReading sent, boolean jumped) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void onRenewed(
            Hold hold, RenewRequest request, ClockReading sent, @Nullable RenewReply reply, @Nullable Throwable error) {
        throw new UnsupportedOperationException();
    }
}
