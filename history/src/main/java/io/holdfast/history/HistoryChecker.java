package io.holdfast.history;

import java.util.ArrayList;
import java.util.List;

/**
 * Checks a history for what locks promise. It checks the mutual exclusion of valid leases as far as that was observed, or
 * for permits their limit. It also checks for growing tokens, one outcome for each operation, waits and leases that end in
 * time, and registers that lose nothing.
 *
 * <pre>{@code
 * Findings findings = HistoryChecker.builder()
 *         .lease(Duration.ofSeconds(30).toNanos())
 *         .build()
 *         .check(History.read(List.of(Path.of("worker-1.history"), Path.of("worker-2.history"))));
 * assertThat(findings.violations()).isEmpty();
 * }</pre>
 *
 * <p>Each reported violation is certain: events that may only have been recorded late never count as an overlap. The
 * absence of a report proves nothing, because the checker knows only what was observed; so recorders should look at
 * validity often. Immutable.
 */
public final class HistoryChecker {

    /** The settings of a check. All times are in nanoseconds. */
    static final class Settings {
        long waitSlack = 1_000_000_000;
        long lease = 30_000_000_000L;
        long idleMax = Operation.NEVER;
        int overtakesMax = Integer.MAX_VALUE;
        long orderSlack = Operation.NEVER;
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

        /**
         * Sets how much longer than its limit a wait may take: one round trip, and delays of the machine; 1 s by
         * default.
         */
        public Builder waitSlack(long nanos) {
            settings.waitSlack = nanos;
            return this;
        }

        /**
         * Sets the clients' lease time; 30 s by default. A lease that the store forgot may stay valid for this time,
         * and a dead process may keep others out for this time.
         */
        public Builder lease(long nanos) {
            settings.lease = nanos;
            return this;
        }

        /**
         * Sets the longest time for which a lock may be free while an operation waits for it. Permits are free when each
         * operation that waits would fit: then the first of them does. Not checked by default.
         */
        public Builder idleAtMost(long nanos) {
            settings.idleMax = nanos;
            return this;
        }

        /** Sets how many later operations may be granted before a waiting one. Not checked by default. */
        public Builder overtakesAtMost(int count) {
            settings.overtakesMax = count;
            return this;
        }

        /**
         * Checks that no request that waits for permits is overtaken. An operation is overtaken by one that asked more
         * than this time later, and is granted more than this time earlier. Not checked by default: the order is that
         * of the store, which the network and a client with many waiters may change.
         */
        public Builder permitsInOrder(long slackNanos) {
            settings.orderSlack = slackNanos;
            return this;
        }

        /** Allows operations without an outcome, because the recording was cut off. */
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

    /** Checks a history. */
    public Findings check(History history) {
        List<String> violations = new ArrayList<>();
        Recording recording = new Recording(history, Operation.of(history, violations), settings);
        LeaseChecks.capacity(recording, violations);
        LeaseChecks.tokens(recording, violations);
        LeaseChecks.fixedLeases(recording, violations);
        WaitChecks.outcomes(recording, violations);
        WaitChecks.waits(recording, violations);
        WaitChecks.idleness(recording, violations);
        WaitChecks.order(recording, violations);
        int overtakes = WaitChecks.overtakes(recording, violations);
        long damage = RegisterChecks.counters(recording);
        RegisterChecks.registers(recording, violations);
        return Findings.of(recording, overtakes, damage, violations);
    }
}
