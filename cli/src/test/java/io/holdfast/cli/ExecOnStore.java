package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.cli.console.ExitCode;
import java.util.ArrayList;
import java.util.List;

/** What {@code exec} does on any store. */
final class ExecOnStore {

    private ExecOnStore() {}

    /**
     * Runs a command under a lock, and looks at the lock and asks for it meanwhile.
     *
     * @param noWait the options of a command that does not wait
     */
    static void assertRunsUnderALock(String store, String... noWait) {
        try (CliProcess exec = CliProcess.start(
                "exec",
                "--store",
                store,
                "report",
                "--",
                "sh",
                "-c",
                "echo running; read line; echo $HOLDFAST_TOKEN")) {
            exec.awaitOut("running");
            InProcess seen = InProcess.on(store, "inspect", "report");
            assertThat(seen.exitCode()).as("%s%s", seen.out(), seen.err()).isZero();
            assertThat(seen.out()).contains("hf-");
            List<String> asking = new ArrayList<>(List.of("exec", "--store", store));
            asking.addAll(List.of(noWait));
            asking.addAll(List.of("report", "--", "true"));
            try (CliProcess second = CliProcess.run(asking.toArray(String[]::new))) {
                assertThat(second.exitCode()).as(second.err()).isEqualTo(ExitCode.NOT_ACQUIRED);
            }
            exec.type("go on\n");
            assertThat(exec.exitCode()).isZero();
            assertThat(exec.out().lines().toList().get(1)).matches("\\d{5,19}");
        }
    }
}
