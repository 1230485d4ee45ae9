package io.holdfast.bench.harness;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.bench.report.Report;
import io.holdfast.bench.report.Results;
import io.holdfast.testkit.servers.RedisServer;
import java.nio.file.Path;
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
}
