package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** The job of {@code samples/operations/kubernetes.yaml} is a command line that works. */
@DisabledOnOs(OS.WINDOWS)
class OperationsKitTest extends WithRedis {

    private static final Path KIT = Path.of("..", "samples", "operations");

    @Test
    void theCommandOfTheCronJobRunsTheScriptUnderTheLock() throws Exception {
        List<String> words = command();
        assertThat(words).startsWith("holdfast", "exec").endsWith("./nightly.sh");
        words.set(words.size() - 1, KIT.resolve("nightly.sh").toString());
        try (CliProcess exec = CliProcess.start(
                Map.of("HOLDFAST_STORE", redis.uri()),
                words.subList(1, words.size()).toArray(new String[0]))) {
            assertThat(exec.exitCode()).as(exec.err()).isZero();
            assertThat(exec.out()).matches("alone with nightly, token \\d+\n");
        }
    }

    @Test
    void thePodOutlivesTheTimeInWhichItsCommandMayStop() throws Exception {
        List<String> words = command();
        String killAfter = words.get(words.indexOf("--kill-after") + 1);
        assertThat(Duration.ofSeconds(Long.parseLong(one("terminationGracePeriodSeconds: (\\d+)"))))
                .isGreaterThan(Duration.parse("PT" + killAfter));
    }

    private static List<String> command() throws Exception {
        return new ArrayList<>(List.of(one("command: \\[(holdfast, .*)]").split(", ")));
    }

    /** Returns what stands once in the job. */
    private static String one(String pattern) throws Exception {
        String file = Files.readString(KIT.resolve("kubernetes.yaml"));
        List<String> found = Pattern.compile(pattern)
                .matcher(file.substring(file.indexOf("kind: CronJob")))
                .results()
                .map(match -> match.group(1))
                .toList();
        assertThat(found).hasSize(1);
        return found.get(0);
    }
}
