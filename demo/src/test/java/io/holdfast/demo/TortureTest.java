package io.holdfast.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.holdfast.cli.console.ExitCode;
import io.holdfast.history.Event;
import io.holdfast.history.Findings;
import io.holdfast.history.History;
import io.holdfast.history.HistoryChecker;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A short torture, as a user starts it. */
class TortureTest {

    @TempDir
    private Path folder;

    @Tag("deep")
    @ParameterizedTest
    @ValueSource(strings = {"single", "postgresql", "pgbouncer", "mariadb", "mysql"})
    void nothingIsBrokenAndTheHistoryTellsTheSame(String servers) throws IOException {
        try (HoldfastProcess torture =
                HoldfastProcess.run("torture", "--on", servers, "--seconds", "10", "--history", folder.toString())) {
            int exitCode = torture.exitCode();
            assumeThat(torture.err()).doesNotContain("no servers for");
            assertThat(exitCode).as("%s%s", torture.out(), torture.err()).isZero();
            assertThat(torture.out()).contains("  leases\n", "         0  VIOLATIONS\n");
        }
        List<Path> files;
        try (Stream<Path> all = Files.list(folder)) {
            files = all.filter(file -> file.toString().endsWith(".history")).toList();
        }
        assertThat(files).hasSizeGreaterThanOrEqualTo(4);
        History recorded = History.read(files);
        Findings findings =
                HistoryChecker.builder().waitSlack(15_000_000_000L).build().check(recorded);
        assertThat(findings.granted()).isPositive();
        assertThat(findings.violations()).isEmpty();
        assertThat(granted(recorded, "permits")).isNotEmpty();
        assertThat(granted(recorded, "read-write"))
                .extracting(asked -> asked.number("weight", 0))
                .contains(1L)
                .anyMatch(weight -> weight > 1);
    }

    /** What was asked for under a name, and granted. */
    private static List<Event> granted(History recorded, String name) {
        Set<String> granted = recorded.events().stream()
                .filter(event -> event.kind() == Event.Kind.GRANTED)
                .map(Event::who)
                .collect(Collectors.toSet());
        return recorded.events().stream()
                .filter(event -> event.kind() == Event.Kind.ASK)
                .filter(event -> event.text("lock").endsWith(":" + name) && granted.contains(event.who()))
                .toList();
    }

    @Test
    void aFolderWithAnotherRunsHistoryIsRefused(@TempDir Path folder) throws IOException {
        Files.createFile(folder.resolve("w9.history"));
        InProcess result = InProcess.run("torture", "--store", "redis://127.0.0.1:1", "--history", folder.toString());
        assertThat(result.exitCode()).isEqualTo(ExitCode.USAGE);
        assertThat(result.err()).contains("--history: " + folder, "an earlier run");
    }

    @Test
    @Timeout(30)
    void aStoreThatCannotBeUsedIsToldAtOnce() {
        InProcess away = InProcess.run("torture", "--store", "redis://127.0.0.1:1", "--history", folder.toString());
        assertThat(away.exitCode()).isEqualTo(ExitCode.STORE_UNAVAILABLE);
        assertThat(away.err()).contains("redis://127.0.0.1:1/0 cannot be reached");
        InProcess malformed = InProcess.run("torture", "--store", "here", "--history", folder.toString());
        assertThat(malformed.exitCode()).isEqualTo(ExitCode.USAGE);
        assertThat(malformed.err()).contains("has no scheme");
    }

    /** Not for root, who may read and write everything. */
    @Test
    void aFolderThatMayNotBeReadIsRefused() throws IOException {
        Path closed = Files.createDirectory(folder.resolve("closed"));
        Files.setPosixFilePermissions(closed, Set.of());
        assumeThat(Files.isReadable(closed)).isFalse();
        InProcess result = InProcess.run("torture", "--history", closed.toString());
        assertThat(result.exitCode()).isEqualTo(ExitCode.USAGE);
        assertThat(result.err()).contains("--history: " + closed).doesNotContain("Exception");
    }

    @Test
    void aFileInPlaceOfTheFolderIsRefused() throws IOException {
        Path file = Files.createFile(folder.resolve("file"));
        InProcess result = InProcess.run("torture", "--history", file.toString());
        assertThat(result.exitCode()).isEqualTo(ExitCode.USAGE);
        assertThat(result.err()).contains("--history: " + file).doesNotContain("Exception");
    }

    @Test
    void aStoreWithinOneProcessIsRefused() {
        InProcess result = InProcess.run("torture", "--store", "memory:x");
        assertThat(result.exitCode()).isEqualTo(ExitCode.USAGE);
        assertThat(result.err()).contains("memory:x", "redis://127.0.0.1:6379");
    }

    @Test
    void aStoreAndServersOfItsOwnExcludeEachOther() {
        InProcess result = InProcess.run("torture", "--store", "redis://h", "--on", "zookeeper");
        assertThat(result.exitCode()).isEqualTo(ExitCode.USAGE);
        assertThat(result.err()).contains("--store and --on exclude each other");
    }

    @Test
    void theServersOfItsOwnHaveNames() {
        assertThat(InProcess.run("torture", "--help").out()).contains("single, sentinel, cluster,");
        InProcess result = InProcess.run("torture", "--on", "etcd");
        assertThat(result.exitCode()).isEqualTo(ExitCode.USAGE);
        assertThat(result.err()).contains("etcd").containsIgnoringCase("redlock");
    }
}
