package io.holdfast.cli.process;

import static io.holdfast.cli.process.CommandPath.Found.DIRECTORY;
import static io.holdfast.cli.process.CommandPath.Found.EXECUTABLE;
import static io.holdfast.cli.process.CommandPath.Found.NOTHING;
import static io.holdfast.cli.process.CommandPath.Found.NOT_EXECUTABLE;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CommandPathTest {

    @TempDir
    Path dir;

    private Path plain;
    private Path executable;

    @BeforeEach
    void makeFiles() throws IOException {
        Files.createDirectories(dir.resolve("a/folder"));
        Files.createDirectories(dir.resolve("b"));
        plain = Files.writeString(dir.resolve("a/tool"), "");
        executable = Files.writeString(dir.resolve("b/tool"), "");
        assertThat(executable.toFile().setExecutable(true)).isTrue();
    }

    @Test
    void looksThroughTheSearchPath() {
        assertThat(CommandPath.find("tool", dir + "/a:" + dir + "/b")).isEqualTo(EXECUTABLE);
        assertThat(CommandPath.find("tool", dir + "/a")).isEqualTo(NOT_EXECUTABLE);
        assertThat(CommandPath.find("tool", dir.toString())).isEqualTo(NOTHING);
        assertThat(CommandPath.find("folder", dir + "/a")).isEqualTo(NOTHING);
        assertThat(CommandPath.find("", dir + "/a")).isEqualTo(NOTHING);
    }

    @Test
    void takesANameWithASlashAsAFile() {
        assertThat(CommandPath.find(executable.toString(), "")).isEqualTo(EXECUTABLE);
        assertThat(CommandPath.find(plain.toString(), "")).isEqualTo(NOT_EXECUTABLE);
        assertThat(CommandPath.find(dir.toString(), "")).isEqualTo(DIRECTORY);
        assertThat(CommandPath.find(dir + "/none", "")).isEqualTo(NOTHING);
        assertThat(CommandPath.find("a\0/b", "")).isEqualTo(NOTHING);
    }

    @Test
    void findsTheSystemsCommandsWithoutASearchPath() {
        assertThat(CommandPath.find("sh", null)).isEqualTo(EXECUTABLE);
    }
}
