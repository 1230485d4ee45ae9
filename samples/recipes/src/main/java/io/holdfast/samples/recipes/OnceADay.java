package io.holdfast.samples.recipes;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import java.time.Duration;
import java.time.LocalDate;
import java.util.Optional;
import java.util.function.Consumer;

/** Makes a report once for each day, on any node of the fleet. */
final class OnceADay {

    private final LockClient locks;
    private final Consumer<LocalDate> report;

    OnceADay(LockClient locks, Consumer<LocalDate> report) {
        this.locks = locks;
        this.report = report;
    }

    /** Called by the scheduler of every node. Returns whether this node made the report. */
    boolean make(LocalDate day) {
        Optional<Lease> acquired = locks.tryAcquire("report:" + day);
        if (acquired.isEmpty()) {
            return false;
        }
        try (Lease lease = acquired.get()) {
            report.accept(day);
            lease.releaseHoldingAtLeast(Duration.ofDays(2));
            return true;
        }
    }
}
