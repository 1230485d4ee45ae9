package io.holdfast.bench.harness;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.bench.report.Report;
import io.holdfast.bench.report.Results;
import io.holdfast.testkit.servers.RedisServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs a little of everything, so that the harness still works on the day it is needed. Its figures mean nothing. */
@Tag("deep") // starts each peer in a JVM of its own
class SmokeTest {

    @Test
    void measuresTwoPeers(@TempDir Path scratch) throws Exception {
        Runner runner = new Runner(
                Profile.SMOKE,
                List.of("counted", "processes-x1", "held"),
                List.of("holdfast", "lettuce", "lettuce-lean", "lettuce-scripts"),
                scratch);
        Results results;
        try (RedisServer server = RedisServer.start()) {
            results = runner.run(server, Processors.SHARED);
        }
        assertThat(results.notes()).isEmpty();
        assertThat(results.violations()).isZero();
        // Not exactly 2 and 0: a heartbeat may come between.
        assertThat(results.median("counted", 1, "holdfast", "commands")).isBetween(2.0, 2.05);
        assertThat(results.median("counted", 2, "holdfast", "commands")).isBetween(0.0, 0.05);
        assertThat(results.median("counted", 1, "lettuce", "commands")).isEqualTo(2);
        assertThat(results.median("counted", 1, "lettuce-lean", "commands")).isEqualTo(2);
        assertThat(results.median("counted", 1, "lettuce-scripts", "commands")).isEqualTo(2);
        assertThat(results.median("processes-x1", 2, "holdfast", "rate")).isPositive();

        assertThat(results.median("held", 20, "holdfast", "commandsPerPeriod")).isPositive();
        assertThat(results.median("held", 20, "lettuce-scripts", "lost")).isZero();

        String page = Report.of(results, List.of("A test."), Map.of(), "");
        assertThat(page).contains("| 2 | holdfast |").contains("Overlaps found: 0");
    }

    @Test
    void measuresADatabase(@TempDir Path scratch) throws Exception {
        Profile profile = new Profile(
                "smoke",
                1,
                Duration.ofMillis(500),
                Duration.ofMillis(100),
                Duration.ofSeconds(1),
                List.of(2),
                List.of(2),
                20,
                Duration.ofSeconds(1),
                List.of());
        Results results = SqlBench.run(profile, List.of("sql"), scratch, scratch, "A test.");
        assertThat(results.violations()).isZero();
        // The first use of a name needs more, and a heartbeat may come between.
        assertThat(results.median("sql-snapshot", 30, "holdfast", "statements")).isBetween(2.0, 2.5);
        assertThat(results.median("sql-snapshot", 30, "shedlock", "statements")).isGreaterThan(2);
        assertThat(results.median("sql-snapshot", 30, "JdbcLockRegistry", "statements"))
                .isGreaterThan(2);
        assertThat(results.median("sql-held", 20, "holdfast", "lost")).isZero();
        assertThat(Files.readString(scratch.resolve("benchmarks-sql.md")))
                .contains(
                        "| 20 | holdfast |", "| 60 | holdfast |", "| 2 | holdfast, notify=false |", "JdbcLockRegistry");
    }
}
