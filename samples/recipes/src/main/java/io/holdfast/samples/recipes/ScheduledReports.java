package io.holdfast.samples.recipes;

import static java.util.concurrent.TimeUnit.DAYS;
import static java.util.concurrent.TimeUnit.SECONDS;

import io.holdfast.Leadership;
import io.holdfast.LeadershipListener;
import io.holdfast.LockClient;
import io.holdfast.Term;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;

/** Lets one node of the fleet write reports by a schedule, which has stopped before another node can begin. */
@SuppressWarnings("FutureReturnValueIgnored") // a report that fails ends the schedule of its term
final class ScheduledReports implements LeadershipListener {

    /** What the leader does. */
    interface Report {
        /** Writes one report, to where smaller tokens are refused. Returns soon after an interrupt. */
        void write(long fencingToken);
    }

    private final Report report;

    @SuppressWarnings("NullAway.Init") // by onElected, which comes first
    private ScheduledExecutorService scheduler;

    private ScheduledReports(Report report) {
        this.report = report;
    }

    /** Campaigns until the leadership or the client is closed. */
    static Leadership campaign(LockClient locks, Report report) {
        return locks.leadership("reports", new ScheduledReports(report));
    }

    @Override
    public void onElected(Term term) {
        scheduler = Executors.newSingleThreadScheduledExecutor();
        scheduler.scheduleWithFixedDelay(() -> write(term), 0, 1, SECONDS);
    }

    private void write(Term term) {
        term.ensureValid();
        report.write(term.fencingToken());
    }

    @Override
    public void onRevoked(Term term) throws InterruptedException {
        scheduler.shutdownNow(); // interrupts the report that is being written
        scheduler.awaitTermination(1, DAYS);
    }
}
