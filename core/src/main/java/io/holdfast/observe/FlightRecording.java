package io.holdfast.observe;

import java.time.Duration;
import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Enabled;
import jdk.jfr.Event;
import jdk.jfr.FlightRecorder;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Threshold;
import jdk.jfr.Timespan;
import org.jspecify.annotations.Nullable;

/**
 * Records events with the Java Flight Recorder. The only class that names classes of {@code jdk.jfr}.
 *
 * <p>The JVM decides whether an event is recorded: {@link Event#isEnabled()} returns a constant until a recording
 * starts. One instance of each class answers that question, so that the answer "no" allocates nothing.
 */
@SuppressWarnings("UnusedVariable") // the JVM reads the fields of events
final class FlightRecording implements Recorder {

    /** Loaded only after {@link #isOn}: the first class of an event makes the JVM read all its own, in 50 ms. */
    private static final class Asked {
        static final AcquireEvent ACQUIRE = new AcquireEvent();
        static final HoldEvent HOLD = new HoldEvent();
        static final LeaseLostEvent LEASE_LOST = new LeaseLostEvent();
        static final HandOffEvent HAND_OFF = new HandOffEvent();
        static final RenewalEvent RENEWAL = new RenewalEvent();
        static final StoreErrorEvent STORE_ERROR = new StoreErrorEvent();
        static final ReconnectEvent RECONNECT = new ReconnectEvent();
        static final ClockJumpEvent CLOCK_JUMP = new ClockJumpEvent();
    }

    FlightRecording() {
        isOn(); // fails here where jdk.jfr is absent
    }

    /** Returns whether a recording runs now, or has run before. */
    private static boolean isOn() {
        return FlightRecorder.isInitialized();
    }

    @Override
    public boolean recordsAcquires() {
        return isOn() && Asked.ACQUIRE.isEnabled();
    }

    @Override
    public @Nullable Acquire beginAcquire() {
        if (!isOn() || !Asked.ACQUIRE.isEnabled()) {
            return null;
        }
        AcquireEvent event = new AcquireEvent();
        event.begin();
        return event;
    }

    @Override
    public Recorder.@Nullable Hold beginHold(
            String client, String name, long fencingToken, @Nullable Thread acquiredBy) {
        if (!isOn() || !Asked.HOLD.isEnabled()) {
            return null;
        }
        HoldEvent event = new HoldEvent();
        event.setLease(client, name, fencingToken);
        event.acquiredBy = acquiredBy;
        event.begin();
        return event;
    }

    @Override
    public void recordLoss(String client, String name, long fencingToken, Duration held, String why) {
        if (isOn() && Asked.LEASE_LOST.isEnabled()) {
            LeaseLostEvent event = new LeaseLostEvent();
            event.setLease(client, name, fencingToken);
            event.held = held.toNanos();
            event.why = why;
            event.commit();
        }
    }

    @Override
    public void recordHandOff(String client, String name, long fencingToken, long waitedNanos, int waiting) {
        if (isOn() && Asked.HAND_OFF.isEnabled()) {
            HandOffEvent event = new HandOffEvent();
            event.setLease(client, name, fencingToken);
            event.waited = waitedNanos;
            event.waiting = waiting;
            event.commit();
        }
    }

    @Override
    public void recordRenewals(String client, int locks, int failed, Duration took) {
        if (isOn() && Asked.RENEWAL.isEnabled()) {
            RenewalEvent event = new RenewalEvent();
            event.client = client;
            event.locks = locks;
            event.failed = failed;
            event.took = took.toNanos();
            event.commit();
        }
    }

    @Override
    public void recordStoreFailure(String client, String command, String name, String outcome, String message) {
        if (isOn() && Asked.STORE_ERROR.isEnabled()) {
            StoreErrorEvent event = new StoreErrorEvent();
            event.client = client;
            event.command = command;
            event.name = name;
            event.outcome = outcome;
            event.message = message;
            event.commit();
        }
    }

    @Override
    public void recordReconnect(String client, String store) {
        if (isOn() && Asked.RECONNECT.isEnabled()) {
            ReconnectEvent event = new ReconnectEvent();
            event.client = client;
            event.store = store;
            event.commit();
        }
    }

    @Override
    public void recordClockJump(String client, Duration by) {
        if (isOn() && Asked.CLOCK_JUMP.isEnabled()) {
            ClockJumpEvent event = new ClockJumpEvent();
            event.client = client;
            event.by = by.toNanos();
            event.commit();
        }
    }

    /** What the events have in common. Only the one that the waiting thread records has a stack. */
    @Category("Holdfast")
    @StackTrace(false)
    private abstract static class EngineEvent extends Event {

        @Label("Client")
        String client = "";
    }

    private abstract static class LockEvent extends EngineEvent {

        @Label("Lock Name")
        String name = "";
    }

    private abstract static class LeaseEvent extends LockEvent {

        @Label("Fencing Token")
        @Description("Zero without a lease")
        long fencingToken;

        void setLease(String ofClient, String ofName, long token) {
            client = ofClient;
            name = ofName;
            fencingToken = token;
        }
    }

    @Name("io.holdfast.Acquire")
    @Label("Lock Acquisition")
    @Description("A wait for a lock, with its outcome; on the thread that waited, if one did")
    @Threshold("5 ms")
    @StackTrace
    private static final class AcquireEvent extends LeaseEvent implements Acquire {

        @Label("Outcome")
        @Description("acquired, timed_out, withdrawn (interrupted or cancelled) or failed")
        String outcome = "";

        @Label("Holder")
        @Description("Who held the lock during the wait, as far as this client knows")
        @Nullable
        String holder;

        @Override
        public void setHolder(@Nullable String holder) {
            this.holder = holder;
        }

        @Override
        public void setOutcome(String client, String name, String outcome, long fencingToken) {
            end();
            setLease(client, name, fencingToken);
            this.outcome = outcome;
        }

        @Override
        public void record() {
            if (!outcome.isEmpty()) {
                commit();
            }
        }
    }

    @Name("io.holdfast.Hold")
    @Label("Lock Hold")
    @Description("A lease, from its grant to its end")
    @Threshold("5 ms")
    private static final class HoldEvent extends LeaseEvent implements Recorder.Hold {

        @Label("Acquired By")
        @Description("The thread that waited for the lease; none for a stage")
        @Nullable
        Thread acquiredBy;

        @Label("Lost")
        boolean lost;

        @Override
        public void record(boolean lost) {
            this.lost = lost;
            commit();
        }
    }

    @Name("io.holdfast.LeaseLost")
    @Label("Lease Lost")
    private static final class LeaseLostEvent extends LeaseEvent {

        @Label("Held For")
        @Timespan
        long held;

        @Label("Why")
        String why = "";
    }

    @Name("io.holdfast.HandOff")
    @Label("Local Hand-Off")
    @Description("A lock was handed to the next waiter of this client, without a command to the store")
    @Enabled(false)
    private static final class HandOffEvent extends LeaseEvent {

        @Label("Waited")
        @Timespan
        long waited;

        @Label("Still Waiting")
        int waiting;
    }

    @Name("io.holdfast.Renewal")
    @Label("Renewals")
    @Description("Renewals that were sent together, when the last of them was answered")
    private static final class RenewalEvent extends EngineEvent {

        @Label("Locks")
        int locks;

        @Label("Failed")
        int failed;

        @Label("Took")
        @Timespan
        long took;
    }

    @Name("io.holdfast.StoreError")
    @Label("Store Error")
    @Description("A command that the store failed to execute")
    private static final class StoreErrorEvent extends LockEvent {

        @Label("Command")
        String command = "";

        @Label("Outcome")
        @Description("not_executed, unknown or fatal")
        String outcome = "";

        @Label("Message")
        String message = "";
    }

    @Name("io.holdfast.Reconnect")
    @Label("Store Reconnect")
    @Description("The store's connection was lost and is back")
    private static final class ReconnectEvent extends EngineEvent {

        @Label("Store")
        String store = "";
    }

    @Name("io.holdfast.ClockJump")
    @Label("Clock Jump")
    @Description("The wall clock got ahead of the monotonic clock, as after a suspension: every lease is checked")
    private static final class ClockJumpEvent extends EngineEvent {

        @Label("By")
        @Timespan
        long by;
    }
}
