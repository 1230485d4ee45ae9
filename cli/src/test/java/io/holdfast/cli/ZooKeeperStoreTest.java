package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.testkit.servers.ZooKeeperEnsemble;
import java.time.Duration;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The commands that take a store, on ZooKeeper. */
class ZooKeeperStoreTest {

    @Test
    void aCommandRunsUnderALockOfZooKeeper() {
        try (ZooKeeperEnsemble servers = ZooKeeperEnsemble.start(1)) {
            String store = servers.uri() + "/cli";
            ExecOnStore.assertRunsUnderALock(store, "--wait", "0s");
            assertThat(InProcess.run("inspect", "--store", store, "report").out())
                    .doesNotContain("hf-");
        }
    }

    /** The first card comes after five seconds. */
    @Test
    @Tag("deep")
    void theHolderAndTheWaiterAreNamedByTheirCards() {
        try (ZooKeeperEnsemble servers = ZooKeeperEnsemble.start(1)) {
            String store = servers.uri() + "/seen";
            List<String> command =
                    List.of("exec", "--store", store, "report", "--", "sh", "-c", "echo runs; read line");
            try (CliProcess holder = CliProcess.start(command.toArray(String[]::new))) {
                holder.awaitOut("runs");
                try (CliProcess waiter = CliProcess.start(command.toArray(String[]::new))) {
                    Awaitility.await()
                            .atMost(Duration.ofSeconds(60))
                            .until(() -> InProcess.run("ls", "--store", store)
                                    .out()
                                    .matches("(?s).*\nreport +exec sh@\\S+ \\(pid " + holder.pid()
                                            + "\\) +\\S+ +renewed +1 .*"));
                    InProcess seen = InProcess.run("inspect", "--store", store, "report");
                    assertThat(seen.out())
                            .containsPattern("held by +exec sh@\\S+ \\(pid " + holder.pid() + "\\), for ")
                            .containsPattern("exec sh@\\S+ \\(pid " + waiter.pid() + "\\): 1 for ");
                }
            }
        }
    }
}
