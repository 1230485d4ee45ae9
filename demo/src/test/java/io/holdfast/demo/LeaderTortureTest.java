package io.holdfast.demo;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.testkit.torture.ServerKind;
import io.holdfast.testkit.torture.Torture;
import io.holdfast.testkit.torture.TortureServers;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A short torture of leaders: their processes are killed and stopped, and their server is. */
@Tag("deep")
class LeaderTortureTest {

    @Test
    void noTwoTermsAreValidAtOnce(@TempDir Path folder) throws Exception {
        try (TortureServers redis = ServerKind.SINGLE.start()) {
            Torture.Report report = new Torture(LeaderWorker.class, redis.uri(), folder, System.nanoTime())
                    .with(redis)
                    .run(3, Duration.ofSeconds(30), System.out::println);
            assertThat(report.findings().violations()).isEmpty();
            assertThat(report.findings().granted()).isGreaterThan(20);
            assertThat(report.faults()).isNotEmpty();
        }
    }
}
