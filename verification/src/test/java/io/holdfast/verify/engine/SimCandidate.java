package io.holdfast.verify.engine;

import static java.util.Objects.requireNonNull;

import io.holdfast.Inside;
import io.holdfast.Leadership;
import io.holdfast.LeadershipListener;
import io.holdfast.Term;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * A process that campaigns for a leadership. Its listener returns at once, or works until it is interrupted, or for longer
 * than it may, or throws; and it resigns and closes in its calls, too.
 *
 * <p>Checked, while neither the process was paused nor the servers forgot a lock: elections and revocations alternate,
 * on one thread, and tokens grow. A term is revoked for good, once, and while there is time to stop; it keeps its lock
 * for no longer than that. Nobody is elected while another one leads, or stops in time.
 */
final class SimCandidate implements LeadershipListener {

    private static final String NAME = "lead";
    private static final String LOCK = "leader:" + NAME;

    private static final long STOP_NANOS = SimProcess.LEASE_MILLIS * 1_000_000 / 3;

    /** How much later than its time an event may come: clocks differ in their rates. */
    private static final long SLACK_NANOS = STOP_NANOS / 50;

    private final Simulation simulation;
    private final SimProcess process;
    private final SplittableRandom random;
    private final SimCaller caller;
    private final Leadership leadership;

    /** The listener's term: from the election until it has stopped. */
    private @Nullable Seen called;

    /** The term in which the candidate led when it was looked at last. */
    private @Nullable Seen leading;

    /** The term that was revoked last. */
    private @Nullable Seen revoked;

    private boolean inCall;

    /** Whether the call is {@code onElected}. */
    private boolean isElecting;

    /** How often the thread had been interrupted when the last call began. */
    private int interruptsBefore;

    SimCandidate(Simulation simulation, SimProcess process) {
        this.simulation = simulation;
        this.process = process;
        this.random = simulation.candidacies.split();
        this.caller = new SimCaller(process.time, this::delay);
        this.leadership = Inside.leadership(process.client, NAME, this, caller, simulation.leaderBug);
        resignLater();
    }

    /** A term, and what had happened to the process and to the lock when it was first seen. */
    private final class Seen {
        final Term term;
        final long token;
        final long pausedBefore = process.pausedNanos;

        /** A failover loses what the old server granted a moment later. */
        final long forgottenBefore =
                simulation.checks.forgotLately() ? SimChecks.NEVER : simulation.checks.forgottenNanos();

        /** When it was no longer the term of a leader. */
        long revokedNanos = Long.MAX_VALUE;

        long pausedAtRevocation;

        Seen(Term term) {
            this.term = term;
            this.token = term.fencingToken();
        }

        /** Whether there is time to stop. */
        boolean isInTime() {
            return term.remaining().toNanos() >= STOP_NANOS - SLACK_NANOS;
        }

        boolean wasPaused() {
            return process.pausedNanos != pausedBefore;
        }

        boolean isForgotten() {
            return simulation.checks.forgottenNanos() > forgottenBefore;
        }

        /** Whether its time to stop is over. */
        boolean isOverdue(long slackNanos) {
            return revokedNanos != Long.MAX_VALUE && process.time.nanoTime() - revokedNanos > STOP_NANOS + slackNanos;
        }

        /** Whether another one may lead although this one has not stopped. */
        boolean isExcused() {
            return !process.isAlive() || isOverdue(-SLACK_NANOS) || wasPaused() || isForgotten();
        }
    }

    /** Mostly short; now and then longer than the listener has. */
    private long delay() {
        return random.nextLong(random.nextInt(16) == 0 ? 2 * STOP_NANOS : STOP_NANOS / 8);
    }

    private void resignLater() {
        process.time.schedule(random.nextLong(8 * STOP_NANOS), () -> {
            if (simulation.isBusy(process)) {
                resign();
                resignLater();
            }
        });
    }

    private void resign() {
        leadership.resign();
        require(!leadership.isLeader(), "leads after it resigned");
    }

    void close() {
        Inside.beginClose(leadership);
        look();
    }

    /** Ends its thread. */
    void end() {
        caller.end();
    }

    // --- what the listener does ---

    @Override
    public void onElected(Term term) throws Exception {
        simulation.recorder.log("%s: leads, token %d", process.id, term.fencingToken());
        beginCall();
        require(called == null, "was elected twice");
        require(leading != null && leading.term == term && leading.isInTime(), "was elected in a term that is over");
        Seen now = requireNonNull(leading);
        for (SimCandidate other : simulation.candidates) {
            require(
                    other.called == null || other.called.isExcused(),
                    "was elected while " + other.process.id + " led or stopped");
        }
        require(now.token > simulation.lastTerm || now.isForgotten(), "has the token of an earlier term");
        simulation.lastTerm = now.token;
        simulation.terms++;
        called = now;
        harmLater();
        isElecting = true;
        try {
            work();
        } finally {
            isElecting = false;
            inCall = false;
        }
    }

    private void work() throws Exception {
        switch (random.nextInt(12)) {
            case 0, 1 -> caller.sleepUntilInterrupted(Long.MAX_VALUE / 4);
            case 2 -> untilInterrupted(random.nextLong(STOP_NANOS / 2));
            case 3 -> untilInterrupted(random.nextLong(3 * STOP_NANOS));
            case 4 -> caller.sleep(random.nextLong(4 * STOP_NANOS));
            case 5 -> caller.sleepUntilInterrupted(random.nextLong(4 * STOP_NANOS));
            case 6 -> fail();
            case 7 -> ask();
            default -> {
                // It has begun to work, and returns.
            }
        }
    }

    /** It finishes what it does when it is interrupted. */
    private void untilInterrupted(long restNanos) {
        try {
            caller.sleepUntilInterrupted(Long.MAX_VALUE / 4);
        } catch (InterruptedException e) {
            caller.sleep(restNanos);
        }
    }

    private void fail() throws Exception {
        if (random.nextBoolean()) {
            caller.sleep(random.nextLong(STOP_NANOS));
        }
        switch (random.nextInt(3)) {
            case 0 -> throw new IllegalStateException("thrown by the listener");
            case 1 -> throw new StackOverflowError("thrown by the listener");
            default -> throw new Exception("thrown by the listener");
        }
    }

    /** Calls from a call. */
    private void ask() {
        switch (random.nextInt(4)) {
            case 0 -> resign();
            case 1 -> closeAndStandAgain();
            case 2 -> simulation.faults().close(process);
            default -> {
                if (leadership.isLeader()) {
                    leadership.term().orElseThrow().ensureValid();
                }
            }
        }
    }

    @Override
    public void onRevoked(Term term) throws Exception {
        simulation.recorder.log("%s: leads no more, token %d", process.id, term.fencingToken());
        beginCall();
        Seen last = called;
        require(last != null && last.term == term, "was revoked in a term that it does not have");
        require(!leadership.isLeader(), "leads when onRevoked is called");
        try {
            switch (random.nextInt(8)) {
                case 0 -> caller.sleep(random.nextLong(3 * STOP_NANOS));
                case 1, 2 -> caller.sleep(random.nextLong(STOP_NANOS / 2));
                case 3 -> fail();
                case 4 -> ask();
                case 5 -> Thread.currentThread().interrupt();
                default -> {
                    // It stops at once.
                }
            }
        } finally {
            called = null;
            inCall = false;
        }
    }

    private void beginCall() {
        require(caller.isCalling() && !inCall, "was called by two threads at once");
        require(!caller.clearInterrupt(), "was interrupted for an earlier call");
        inCall = true;
        interruptsBefore = caller.interrupts();
    }

    // --- what happens to it ---

    /** A leader has more bad luck than others. */
    private void harmLater() {
        if (simulation.calm || random.nextInt(2) == 0) {
            return;
        }
        process.time.schedule(random.nextLong(2 * STOP_NANOS), () -> {
            if (!simulation.isBusy(process) || !leadership.isLeader()) {
                return;
            }
            switch (random.nextInt(8)) {
                case 0, 1, 2 -> {
                    long length = STOP_NANOS + random.nextLong(4 * STOP_NANOS);
                    simulation.recorder.log("%s: is cut off for %d ms", process.id, length / 1_000_000);
                    process.link.cutOff(length);
                }
                case 3 -> simulation.faults().pause(process, random.nextLong(4 * STOP_NANOS));
                case 4 -> simulation.faults().close(process);
                case 5 -> closeAndStandAgain();
                case 6 -> simulation.faults().forceRelease(LOCK);
                default -> resign();
            }
        });
    }

    private void closeAndStandAgain() {
        close();
        process.time.schedule(random.nextLong(4 * STOP_NANOS), () -> {
            if (simulation.isBusy(process)) {
                simulation.candidates.add(new SimCandidate(simulation, process));
            }
        });
    }

    // --- what must be true ---

    /** Looks at the candidate after an event. */
    void look() {
        if (!process.isAlive() || process.time.isPaused()) {
            return;
        }
        caller.look();
        Term now = leadership.term().orElse(null);
        if (leading != null && leading.term != now) {
            revoked(leading);
        }
        if (now != null && leading == null) {
            require(called == null, "leads again before its listener has stopped");
            require(revoked == null || revoked.term != now, "leads again in a term that was revoked");
            leading = new Seen(now);
        }
        Seen last = revoked;
        if (last != null && last.isOverdue(SLACK_NANOS) && last.pausedAtRevocation == process.pausedNanos) {
            require(!last.term.isValid(), "has its lock after its time to stop");
        }
    }

    private void revoked(Seen last) {
        leading = null;
        revoked = last;
        last.revokedNanos = process.time.nanoTime();
        last.pausedAtRevocation = process.pausedNanos;
        // A lease that ends otherwise is revoked by a callback, a moment later.
        if (!last.wasPaused() && !last.isForgotten()) {
            require(last.isInTime(), "was revoked with " + last.term.remaining() + " left");
            require(
                    called != last || !isElecting || caller.interrupts() > interruptsBefore,
                    "was not interrupted when it was revoked");
        }
    }

    /** Of all that are looked at after an event, two do not lead. */
    static void checkApart(List<SimCandidate> candidates) {
        SimCandidate leader = null;
        for (SimCandidate one : candidates) {
            if (one.leadsForSure()) {
                if (leader != null) {
                    one.require(false, "leads while " + leader.process.id + " leads");
                }
                leader = one;
            }
        }
    }

    private boolean leadsForSure() {
        return leading != null && process.isAlive() && !process.time.isPaused() && !leading.isForgotten();
    }

    private void require(boolean expected, String what) {
        if (!expected) {
            throw simulation.violation("the candidate of " + process.id + " " + what);
        }
    }
}
