package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class HelpTest {

    @Test
    void mainHelpNamesTheCommandsAndFitsAScreen() {
        InProcess result = InProcess.run("--help");
        assertThat(result.exitCode()).isZero();
        assertThat(result.out())
                .contains(
                        "exec",
                        "inspect",
                        "ls",
                        "top",
                        "watch",
                        "release",
                        "doctor",
                        "leader",
                        "console",
                        "holdfast exec --wait 10s");
        assertThat(result.out().lines()).hasSizeLessThan(25);
    }

    @Test
    void everyCommandHasHelp() {
        for (String command :
                new String[] {"exec", "inspect", "ls", "top", "watch", "release", "doctor", "leader", "console"}) {
            InProcess result = InProcess.run(command, "--help");
            assertThat(result.exitCode()).isZero();
            assertThat(result.out()).contains("Usage: holdfast " + command).contains("--store=URI");
            assertThat(result.err()).isEmpty();
        }
    }

    @Test
    void helpNamesACommandAsFlagsDo() {
        for (String command :
                new String[] {"exec", "inspect", "ls", "top", "watch", "release", "doctor", "leader", "console"}) {
            InProcess result = InProcess.run("help", command);
            assertThat(result.exitCode()).isZero();
            assertThat(result.out()).isEqualTo(InProcess.run(command, "--help").out());
            assertThat(result.err()).isEmpty();
        }
        assertThat(InProcess.run("help").out())
                .isEqualTo(InProcess.run("--help").out());
    }

    @Test
    void helpOfAnUnknownCommandIsAnError() {
        InProcess result = InProcess.run("help", "exce");
        assertThat(result.exitCode()).isEqualTo(64);
        assertThat(result.errLines())
                .singleElement()
                .asString()
                .startsWith("holdfast: ")
                .contains("exce");
    }

    @Test
    void execSaysWhatCannotBeHelped() {
        assertThat(InProcess.run("exec", "--help").out()).contains("SIGKILL", "75 not acquired", "76 lease lost");
    }

    @Test
    void versionIsOneLine() {
        InProcess result = InProcess.run("--version");
        assertThat(result.exitCode()).isZero();
        assertThat(result.out().lines()).hasSize(1).allMatch(line -> line.startsWith("holdfast "));
    }
}
