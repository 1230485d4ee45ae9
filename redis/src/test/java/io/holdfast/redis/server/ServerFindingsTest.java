package io.holdfast.redis.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.spi.Finding;
import org.junit.jupiter.api.Test;

class ServerFindingsTest {

    private final ServerFindings findings = ServerFindings.ofMember(new ServerInfo(""), "redis://a:6379/0");

    @Test
    void aClockThatRunsTooFastForTheQuorumIsAnError() {
        Finding fast = findings.rate(0.05, 0.002, 0.01);
        assertThat(fast.severity()).isEqualTo(Finding.Severity.ERROR);
        assertThat(fast.text())
                .isEqualTo("the server's clock ran 5.00 % faster than this machine's (give or take 0.20 %)"
                        + " (redis://a:6379/0); RedLock is set to tolerate 1.00 %");
        assertThat(findings.rate(-0.05, 0.002, 0.01).text()).contains("5.00 % slower");
        assertThat(findings.rate(0.05, 0.002, 0.1).severity()).isEqualTo(Finding.Severity.OK);
    }

    /** A slow answer leaves the rate open: no alarm because of a busy machine. */
    @Test
    void aRateThatMayBeWithinTheLimitIsNone() {
        assertThat(findings.rate(0.05, 0.045, 0.01).severity()).isEqualTo(Finding.Severity.OK);
    }
}
