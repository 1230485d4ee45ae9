package io.holdfast.engine;

import static java.time.Duration.ZERO;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.engine.ProbeStore.Fate;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreHealth;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** How late renewals are, as a health page shows it. */
class RenewalLagTest extends EngineFixture {

    private final ProbeStore probe = new ProbeStore(server.connect(new StoreContext("probe", time)));
    private final LockClient watched = client("probe", probe, settings -> settings.leaseNanos = 9_000_000_000L);

    @Test
    void is_the_time_since_a_renewal_should_have_been_confirmed() {
        Lease lease = now(acquire(watched, "a"));
        Lease fixed = now(acquire(watched, "b", DEFAULTS.leaseFor(ofSeconds(60))));
        for (int i = 0; i < 20; i++) {
            advance(1_000);
            assertThat(watched.renewalLag()).isLessThan(ofMillis(10));
        }
        probe.renews = Fate.FAIL;
        advance(3_000);
        java.time.Duration lag = watched.renewalLag();
        advance(2_000);
        // The attempts that fail do not make it look better.
        assertThat(watched.renewalLag()).isEqualTo(lag.plusMillis(2_000)).isGreaterThan(ofMillis(1_999));
        assertThat(lease.isValid()).isTrue();
        probe.renews = Fate.PASS;
        advance(1_000);
        assertThat(watched.renewalLag()).isEqualTo(ZERO);
        assertThat(lease.isValid()).isTrue();
        assertThat(fixed.isValid()).isTrue();
        lease.release();
        advance(30_000);
        assertThat(watched.renewalLag()).isEqualTo(ZERO);
    }

    @Test
    void a_store_that_answers_is_usable() {
        assertThat(watched.storeHealth()).isEqualTo(new StoreHealth(true, Map.of()));
    }
}
