package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.cli.console.ExitCode;
import io.holdfast.testkit.ZooKeeperEnsemble;
import org.junit.jupiter.api.Test;

/** The commands that take a store take this one. */
class ZooKeeperStoreTest {

    @Test
    void aCommandRunsUnderALockOfZooKeeper() {
        try (ZooKeeperEnsemble servers = ZooKeeperEnsemble.start(1)) {
            String store = servers.uri() + "/cli";
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
                InProcess seen = InProcess.run("inspect", "--store", store, "report");
                assertThat(seen.exitCode()).as("%s%s", seen.out(), seen.err()).isZero();
                assertThat(seen.out()).contains("hf-");
                try (CliProcess second =
                        CliProcess.run("exec", "--store", store, "--wait", "0s", "report", "--", "true")) {
                    assertThat(second.exitCode()).as(second.err()).isEqualTo(ExitCode.NOT_ACQUIRED);
                }
                exec.type("go on\n");
                assertThat(exec.exitCode()).isZero();
                assertThat(exec.out().lines().toList().get(1)).matches("\\d{5,19}");
            }
            assertThat(InProcess.run("inspect", "--store", store, "report").out())
                    .doesNotContain("hf-");
        }
    }
}
