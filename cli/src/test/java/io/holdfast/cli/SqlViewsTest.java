package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.testkit.servers.PostgresServer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code ls} and {@code top} on a database: two clients with a lock, permits, and a read-write lock. */
class SqlViewsTest {

    @Test
    void onH2(@TempDir Path dir) throws InterruptedException {
        assertShown("jdbc:h2:" + dir.resolve("locks") + ";AUTO_SERVER=TRUE;createTable=true");
    }

    @Test
    void onPostgreSql() throws Exception {
        try (PostgresServer server = startedPostgres()) {
            assertShown(server.url() + "&createTable=true");
        }
    }

    private static PostgresServer startedPostgres() throws Exception {
        try {
            return PostgresServer.start();
        } catch (Exception e) {
            if (System.getenv("CI") != null) {
                throw e;
            }
            return abort("PostgreSQL does not start on this machine: " + e);
        }
    }

    private static void assertShown(String store) throws InterruptedException {
        try (LockClient first = LockClient.connect(store);
                LockClient second = LockClient.connect(store)) {
            try (Lease held = first.acquire("held");
                    Lease permit = first.permits("pool", 3).weight(2).acquire();
                    Lease read = first.acquireRead("shared")) {
                first.acquire("freed").release();
                List<CompletionStage<Lease>> waiting = List.of(
                        second.acquireAsync("held"),
                        second.permits("pool", 3).weight(2).acquireAsync(),
                        second.acquireWriteAsync("shared"));
                // The clients write their cards every 5 s.
                Awaitility.await().atMost(Duration.ofSeconds(60)).untilAsserted(() -> assertListed(store));
                assertThat(List.of(held, permit, read)).allMatch(Lease::isValid);
                waiting.forEach(stage -> stage.toCompletableFuture().cancel(false));
            }
            Awaitility.await()
                    .atMost(Duration.ofSeconds(60))
                    .untilAsserted(
                            () -> assertThat(InProcess.on(store, "ls").out().lines())
                                    .noneMatch(line -> line.matches("(held|permits:pool|read-write:shared) .*")));
        }
    }

    private static void assertListed(String store) {
        InProcess ls = InProcess.on(store, "ls");
        assertThat(ls.exitCode()).as("%s%s", ls.out(), ls.err()).isZero();
        assertThat(ls.out().lines().toList()).hasSize(4).satisfies(lines -> {
            assertThat(lines.get(0)).matches("NAME +HOLDER +HELD +ENDS +WAITERS +OLDEST +LOCKS/S +FLAGS");
            assertThat(lines).anyMatch(line -> line.matches("held +\\S+@\\S+ .* renewed +1 +\\S.*"));
            assertThat(lines).anyMatch(line -> line.matches("permits:pool +2/3 \\S+@\\S+ .* 1 +\\S.*"));
            assertThat(lines).anyMatch(line -> line.matches("read-write:shared +read \\S+@\\S+ .* 1 +\\S.*"));
        });
        InProcess top = InProcess.on(store, "top");
        assertThat(top.exitCode()).as("%s%s", top.out(), top.err()).isZero();
        assertThat(top.out())
                .contains("2 clients, 1 lock, 2 permits, 1 read or write lock held, 3 waiters")
                .containsPattern("\nheld +\\S+@")
                .containsPattern("\npermits:pool +2/3 ")
                .containsPattern("\nread-write:shared +read ");
    }
}
