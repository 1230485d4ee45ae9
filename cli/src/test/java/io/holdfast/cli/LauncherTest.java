package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** The script {@code ./holdfast}, in a checkout that looks as if it were built, with a Java that only tells how it was started. */
@EnabledOnOs(OS.LINUX) // looks at /proc
class LauncherTest {

    @TempDir
    private Path root;

    /**
     * Java opens its own files under the lowest free numbers, and the command of {@code exec} inherits the first three: it would
     * read Java's class library as its input.
     */
    @Test
    void aClosedStandardInputIsEmpty() throws Exception {
        assertThat(standardInput("<&-")).isEqualTo("/dev/null");
    }

    @Test
    void anOpenStandardInputStaysWhatItIs() throws Exception {
        Path in = Files.createFile(root.resolve("in"));
        assertThat(standardInput("<in")).isEqualTo(in.toRealPath().toString());
    }

    private String standardInput(String redirection) throws IOException, InterruptedException {
        Path checkout = Path.of("..").toAbsolutePath().normalize();
        Path launcher = Files.copy(checkout.resolve("holdfast"), root.resolve("holdfast"));
        Files.createDirectories(root.resolve("core/src/main"));
        Files.createFile(root.resolve("pom.xml"));
        Files.createFile(root.resolve("core/pom.xml"));
        Path bin = Files.createDirectories(root.resolve("jdk/bin"));
        Files.writeString(root.resolve("jdk/release"), "JAVA_VERSION=\"17.0.1\"\n");
        Path java = Files.writeString(bin.resolve("java"), """
                #!/bin/sh
                stdin=$(readlink /proc/$$/fd/0)
                echo "$stdin" >told
                """);
        assertThat(java.toFile().setExecutable(true)).isTrue();
        Files.createDirectories(root.resolve("cli/target/holdfast"));
        Files.createFile(root.resolve("cli/target/holdfast/built"));

        ProcessBuilder shell = new ProcessBuilder("sh", "-c", "exec " + launcher + " --version " + redirection);
        shell.directory(root.toFile())
                .environment()
                .put("JAVA_HOME", root.resolve("jdk").toString());
        Process process = shell.start();
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).isZero();
        return Files.readString(root.resolve("told")).strip();
    }
}
