package io.holdfast.verify.engine;

import io.holdfast.Inside;
import io.holdfast.Leadership;
import io.holdfast.LeadershipListener;
import io.holdfast.Term;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * A process that stands for a leadership. Its thread takes its time for each call, as a listener does that starts or
 * stops its work; now and then more than it has.
 *
 * <p>Checked: elections and revocations alternate, tokens grow, and nobody is elected while another one leads or stops,
 * unless that process was paused or stopped too late, or the servers forgot the lock. Without such a cause, a term ends
 * while there is time to stop.
 */
final class SimCandidate implements LeadershipListener {

    static final String NAME = "lead";

    private static final long STOP_NANOS = SimProcess.LEASE_MILLIS * 1_000_000 / 3;

    /** How much later than its time an event may come: clocks differ in their rates. */
    private static final long SLACK_NANOS = STOP_NANOS / 50;

    private final Simulation simulation;
    private final SimProcess process;
    private final SplittableRandom random;
    private final Leadership leadership;
    private final Queue<Runnable> calls = new ArrayDeque<>();

    /** From the election until the listener has stopped. */
    private @Nullable Term term;

    /** Whether the term was not revoked when it was looked at last. */
    private boolean leading;

    /** What had happened to the process, and to the lock, when the term began. */
    private long pausedBefore;

    private long forgottenBefore;
    private long revokedNanos;
    private boolean late;

    SimCandidate(Simulation simulation, SimProcess process) {
        this.simulation = simulation;
        this.process = process;
        this.random = simulation.candidacies.split();
        this.leadership = Inside.leadership(process.client, NAME, this, this::execute);
        resignLater();
    }

    private void resignLater() {
        process.time.schedule(random.nextLong(8 * STOP_NANOS), () -> {
            if (simulation.isBusy(process)) {
                leadership.resign();
                resignLater();
            }
        });
    }

    void close() {
        Inside.beginClose(leadership);
    }

    /** The leadership's thread: one call after the other. */
    private void execute(Runnable call) {
        calls.add(call);
        if (calls.size() == 1) {
            runNext();
        }
    }

    private void runNext() {
        long most = random.nextInt(16) == 0 ? 3 * STOP_NANOS : STOP_NANOS / 4;
        process.time.schedule(random.nextLong(most), () -> {
            // Still in the queue, so that a call that comes of this one does not start another run.
            calls.element().run();
            calls.remove();
            if (!calls.isEmpty()) {
                runNext();
            }
        });
    }

    @Override
    public void onElected(Term elected) {
        simulation.recorder.log("%s: leads, token %d", process.id, elected.fencingToken());
        require(term == null, "was elected twice");
        for (SimCandidate other : simulation.candidates) {
            require(
                    other == this || other.term == null || other.isExcused(),
                    "was elected while " + other.process.id + " led or stopped");
        }
        require(
                elected.fencingToken() > simulation.lastTerm || hasForgottenSince(SimChecks.NEVER),
                "got a token of an earlier term");
        simulation.lastTerm = elected.fencingToken();
        term = elected;
        leading = true;
        late = false;
        pausedBefore = process.pausedNanos;
        // A failover loses what the old server granted a moment later.
        forgottenBefore = simulation.checks.forgotLately() ? SimChecks.NEVER : simulation.checks.forgottenNanos();
    }

    @Override
    public void onRevoked(Term revoked) {
        simulation.recorder.log("%s: leads no more, token %d", process.id, revoked.fencingToken());
        require(revoked == term, "was revoked in a term that it does not have");
        require(!leadership.isLeader(), "leads after its revocation");
        term = null;
    }

    /** Looks at the term after an event. */
    void look() {
        Term now = term;
        if (now == null || !process.isAlive()) {
            return;
        }
        boolean leads = leadership.isLeader();
        if (leading && !leads) {
            leading = false;
            revokedNanos = process.time.nanoTime();
            require(
                    now.remaining().toNanos() >= STOP_NANOS - SLACK_NANOS || isExcused(),
                    "was revoked with " + now.remaining() + " left");
        }
        late |= !leads && process.time.nanoTime() - revokedNanos > STOP_NANOS - SLACK_NANOS;
    }

    /** Whether another one may lead although this one has not stopped. */
    private boolean isExcused() {
        return !process.isAlive() || late || process.pausedNanos != pausedBefore || hasForgottenSince(forgottenBefore);
    }

    private boolean hasForgottenSince(long nanos) {
        return simulation.checks.forgottenNanos() > nanos;
    }

    private void require(boolean expected, String what) {
        if (!expected) {
            throw simulation.violation("the candidate of " + process.id + " " + what);
        }
    }
}
