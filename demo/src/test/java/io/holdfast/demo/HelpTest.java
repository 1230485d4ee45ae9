package io.holdfast.demo;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class HelpTest {

    @Test
    void theCommandsOfACheckoutAreNamed() {
        assertThat(InProcess.run("--help").out()).contains("exec", "inspect", "release", "demo", "torture");
        assertThat(InProcess.run("--help").out().lines()).hasSizeLessThanOrEqualTo(25);
    }

    @Test
    void bothCommandsHaveHelp() {
        for (String command : new String[] {"demo", "torture"}) {
            InProcess result = InProcess.run(command, "--help");
            assertThat(result.exitCode()).isZero();
            assertThat(result.out()).contains("Usage: holdfast " + command, "--store=URI");
            assertThat(result.err()).isEmpty();
            assertThat(InProcess.run("help", command).out()).isEqualTo(result.out());
        }
    }
}
