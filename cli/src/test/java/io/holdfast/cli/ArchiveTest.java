package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.holdfast.testkit.servers.RedisServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** The archive {@code holdfast-cli-….tar.gz}, unpacked into an empty folder. */
@EnabledOnOs(OS.LINUX) // looks at /proc
@Tag("deep")
class ArchiveTest {

    @TempDir
    private Path folder;

    private Path home;

    @BeforeEach
    void unpack() throws Exception {
        String archive = System.getProperty("holdfast.archive");
        assertThat(run(Map.of(), "tar", "xzf", archive).exitCode()).isZero();
        try (Stream<Path> unpacked = Files.list(folder)) {
            home = unpacked.filter(Files::isDirectory).findFirst().orElseThrow();
        }
    }

    @Test
    void helpListsTheCommands() throws Exception {
        Result help = holdfast("--help");
        assertThat(help.exitCode()).isZero();
        assertThat(help.out()).contains("exec", "inspect", "release").doesNotContain("generate-completion");
    }

    @Test
    void theFirstExecMakesTheClassArchiveAndLaterOnesUseIt() throws Exception {
        try (RedisServer redis = RedisServer.start()) {
            assertThat(exec(redis)).isEqualTo(new Result(0, "ran\n", ""));
            Path made = onlyFile(cache());
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(cache())))
                    .isEqualTo("rwx------");
            byte[] before = Files.readAllBytes(made);

            assertThat(exec(redis)).isEqualTo(new Result(0, "ran\n", ""));
            assertThat(Files.readAllBytes(onlyFile(cache()))).isEqualTo(before);
            assertThat(exec(redis, "sh", "-c", "grep -q " + made.getFileName() + " /proc/$PPID/maps")
                            .exitCode())
                    .isZero();
        }
    }

    @Test
    void aBrokenClassArchiveIsNotUsed() throws Exception {
        try (RedisServer redis = RedisServer.start()) {
            assertThat(exec(redis).exitCode()).isZero();
            Path made = onlyFile(cache());
            byte[] bytes = Files.readAllBytes(made);
            Files.delete(made);
            Files.write(made, new byte[bytes.length]);
            assertThat(exec(redis)).isEqualTo(new Result(0, "ran\n", ""));
        }
    }

    @Test
    void whereNoFolderCanBeMadeThereIsNoClassArchive() throws Exception {
        Files.createFile(folder.resolve("cache"));
        try (RedisServer redis = RedisServer.start()) {
            assertThat(exec(redis)).isEqualTo(new Result(0, "ran\n", ""));
        }
    }

    /** The signal that some images stop a container with. Java answers it by a thread dump, and cannot do otherwise. */
    @Test
    void quitLeavesTheOutputOfTheCommandAlone() throws Exception {
        String command = "kill -QUIT $PPID; i=0; until grep -q 'Full thread dump' /proc/$PPID/fd/2 || [ $i = 300 ];"
                + " do i=$((i + 1)); sleep 0.1; done; echo ran";
        try (RedisServer redis = RedisServer.start()) {
            Result result = exec(redis, "sh", "-c", command);
            assertThat(result.out()).isEqualTo("ran\n");
            assertThat(result.err()).contains("Full thread dump");
            assertThat(result.exitCode()).isZero();
        }
    }

    @Test
    void eachJarOfHoldfastHasTheLicense() throws Exception {
        try (Stream<Path> jars = Files.list(home.resolve("lib"))) {
            List<Path> ours = jars.filter(jar -> jar.getFileName().toString().startsWith("holdfast-"))
                    .toList();
            assertThat(ours).hasSizeGreaterThan(4);
            for (Path jar : ours) {
                try (ZipFile content = new ZipFile(jar.toFile())) {
                    assertThat(content.getEntry("META-INF/LICENSE"))
                            .as("%s", jar)
                            .isNotNull();
                    assertThat(content.getEntry("META-INF/NOTICE"))
                            .as("%s", jar)
                            .isNotNull();
                }
            }
        }
    }

    @Test
    void theCompletionKnowsTheCommands() throws Exception {
        Path completion = home.resolve("completion/holdfast");
        String complete = "source " + completion
                + "; COMP_WORDS=(holdfast ins); COMP_CWORD=1; _complete_holdfast; echo \"${COMPREPLY[@]}\"";
        assertThat(run(Map.of(), "bash", "-n", completion.toString())).isEqualTo(new Result(0, "", ""));
        assertThat(run(Map.of(), "bash", "-c", complete).out()).isEqualTo("inspect\n");
    }

    /** At a terminal, as zsh completes nothing elsewhere. */
    @Test
    void zshCompletesCommandsToo() throws Exception {
        assumeTrue(run(Map.of(), "sh", "-c", "command -v zsh").exitCode() == 0, "there is no zsh");
        String type = String.join(
                "\n",
                "zmodload zsh/zpty",
                "zpty shell zsh -f -i",
                "zpty -w shell \"source " + home.resolve("completion/holdfast") + "; echo rea''dy\"",
                "zpty -r -m shell before '*ready*'",
                "zpty -w -n shell $'holdfast ins\\t'",
                "zpty -r -m shell typed '*pect*'",
                "print -r -- $typed");
        Map<String, String> environment = Map.of("HOME", folder.toString());
        assertThat(run(environment, "timeout", "60", "zsh", "-fc", type).out()).containsPattern("holdfast ins.*pect");
    }

    @Test
    void theManualPageHasTheHelpOfEachCommand() throws Exception {
        List<String> page = Files.readAllLines(home.resolve("man/man1/holdfast.1"));
        assertThat(page)
                .startsWith(".TH HOLDFAST 1", ".SH NAME")
                .contains(".SH \"HOLDFAST EXEC\"", ".SH \"HOLDFAST LEADER\"", ".SH \"HOLDFAST DOCTOR\"")
                .noneMatch(line -> line.contains("GENERATE"));
        assertThat(page.stream().filter(line -> line.startsWith(".") || line.startsWith("'")))
                .allMatch(line -> line.matches("\\.(TH|SH|nf|fi)( .*)?"));
        assertThat(String.join("\n", page).replace("\\", "")).contains("holdfast exec -", "--wait");
    }

    @Test
    void withoutJavaItSaysSo() throws Exception {
        Path bin = Files.createDirectory(folder.resolve("bin"));
        for (String tool : List.of("sh", "sed", "dirname", "readlink")) {
            Path real = Stream.of("/bin", "/usr/bin")
                    .map(at -> Path.of(at, tool))
                    .filter(Files::exists)
                    .findFirst()
                    .orElseThrow();
            Files.createSymbolicLink(bin.resolve(tool), real);
        }
        Result refused = run(Map.of("JAVA_HOME", "/none", "PATH", bin.toString()), "bin/holdfast", "--help");
        assertThat(refused)
                .isEqualTo(new Result(
                        69,
                        "",
                        "holdfast: Java 17 or newer is needed, in JAVA_HOME or on the PATH, and there is none.\n"));
    }

    private record Result(int exitCode, String out, String err) {}

    private Result exec(RedisServer redis) throws Exception {
        return exec(redis, "echo", "ran");
    }

    private Result exec(RedisServer redis, String... command) throws Exception {
        List<String> words = new ArrayList<>(List.of("exec", "--store", redis.uri(), "archived", "--"));
        words.addAll(List.of(command));
        return holdfast(words.toArray(new String[0]));
    }

    private Result holdfast(String... args) throws Exception {
        List<String> words = new ArrayList<>(List.of("bin/holdfast"));
        words.addAll(List.of(args));
        return run(environment(), words.toArray(new String[0]));
    }

    private Map<String, String> environment() {
        Map<String, String> environment = new HashMap<>();
        environment.put("JAVA_HOME", System.getProperty("java.home"));
        environment.put("XDG_CACHE_HOME", folder.resolve("cache").toString());
        return environment;
    }

    private Path cache() {
        return folder.resolve("cache/holdfast");
    }

    private static Path onlyFile(Path folder) throws Exception {
        try (Stream<Path> files = Files.list(folder)) {
            List<Path> all = files.toList();
            assertThat(all).hasSize(1);
            return all.get(0);
        }
    }

    private Result run(Map<String, String> environment, String... words) throws Exception {
        Path out = Files.createTempFile("holdfast", "out");
        Path err = Files.createTempFile("holdfast", "err");
        try {
            ProcessBuilder builder = new ProcessBuilder(words)
                    .directory((home == null ? folder : home).toFile())
                    .redirectOutput(out.toFile())
                    .redirectError(err.toFile());
            builder.environment().keySet().removeIf(variable -> variable.startsWith("HOLDFAST_"));
            builder.environment().putAll(environment);
            Process process = builder.start();
            process.getOutputStream().close();
            assertThat(process.waitFor(90, TimeUnit.SECONDS)).isTrue();
            return new Result(process.exitValue(), Files.readString(out), Files.readString(err));
        } finally {
            Files.delete(out);
            Files.delete(err);
        }
    }
}
