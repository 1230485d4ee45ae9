package io.holdfast.history;

import java.util.ArrayList;
import java.util.List;

/**
 * Checks a history: mutual exclusion of valid leases as far as it was observed, growing tokens, one outcome for each
 * operation, waits and leases that end in time, registers that lose nothing.
 *
 * <p>What it reports is certain: it never takes for overlapping what may only have been recorded late. What it does not
 * report is not certain: what was not observed cannot be judged, so recorders should look at validity often. Immutable.
 */
public final class HistoryChecker {

    /** What a check needs to know about the run. All times in nanoseconds. */
    static final class Settings {
        long waitSlack = 1_000_000_000;
        long lease = 30_000_000_000L;
        long idleMax = Operation.NEVER;
        int overtakesMax = Integer.MAX_VALUE;
        boolean complete = true;
    }

    private final Settings settings;

    private HistoryChecker(Settings settings) {
        this.settings = settings;
    }

    /** Makes a checker; every setting has a default. Not thread-safe. */
    public static final class Builder {

        private final Settings settings = new Settings();

        private Builder() {}

        /** By how much a bounded wait may overrun: one round trip, and what the machine adds. Default: 1 s. */
        public Builder waitSlack(long nanos) {
            settings.waitSlack = nanos;
            return this;
        }

        /**
         * The clients' lease time. A lease that the store forgot may stay valid for so long at most; a dead process may
         * keep others out for so long. Default: 30 s.
         */
        public Builder lease(long nanos) {
            settings.lease = nanos;
            return this;
        }

        /** For how long a lock may be free at most while somebody waits for it. Not checked by default. */
        public Builder idleAtMost(long nanos) {
            settings.idleMax = nanos;
            return this;
        }

        /** How many that asked later may be served before one that waits. Not checked by default. */
        public Builder overtakesAtMost(int count) {
            settings.overtakesMax = count;
            return this;
        }

        /** The recording was cut off: operations without an outcome are no violations. */
        public Builder unfinished() {
            settings.complete = false;
            return this;
        }

        public HistoryChecker build() {
            return new HistoryChecker(settings);
        }
    }

    public static Builder builder() {
        return new Builder();
    }

    /** Reads a history through. */
    public Findings check(History history) {
        List<String> violations = new ArrayList<>();
        Recording recording = new Recording(history, Operation.of(history, violations), settings);
        LeaseChecks.exclusion(recording, violations);
        LeaseChecks.tokens(recording, violations);
        LeaseChecks.fixedLeases(recording, violations);
        WaitChecks.outcomes(recording, violations);
        WaitChecks.waits(recording, violations);
        WaitChecks.idleness(recording, violations);
        int overtakes = WaitChecks.overtakes(recording, violations);
        long damage = RegisterChecks.counters(recording);
        RegisterChecks.registers(recording, violations);
        return Findings.of(recording, overtakes, damage, violations);
    }
}
