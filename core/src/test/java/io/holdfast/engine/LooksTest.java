package io.holdfast.engine;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.engine.ProbeStore.Fate;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreContext;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Holds that need no renewal are looked at as often as those that are renewed, by a command that lengthens nothing. */
class LooksTest extends EngineFixture {

    private final LockStore admin = server.connect(new StoreContext("admin", time));

    @Test
    void the_loss_of_a_fixed_lease_is_noticed_within_a_third_of_a_regular_one() {
        Lease lease = now(acquire(client, "a", DEFAULTS.leaseFor(ofMinutes(10))));
        lease.onLost(() -> events.add("lost"));
        advance(100_300);
        admin.forceRelease("a", null);
        advance(1_000);
        assertThat(events).containsExactly("lost");
        assertThat(lease.isValid()).isFalse();
    }

    @Test
    void the_loss_of_a_lease_near_its_longest_holding_time_is_noticed_too() {
        LockClient slow = client(
                "slow",
                probe("slow"),
                settings -> settings.leaseNanos = ofMinutes(1).toNanos());
        Lease lease = now(acquire(slow, "a", DEFAULTS.holdAtMost(ofSeconds(70))));
        lease.onLost(() -> events.add("lost"));
        advance(25_000);
        admin.forceRelease("a", null);
        advance(20_001);
        assertThat(events).containsExactly("lost");
    }

    @Test
    void a_look_does_not_lengthen() {
        Lease lease = now(acquire(client, "a", DEFAULTS.leaseFor(ofSeconds(10))));
        advance(9_000);
        assertThat(store.renewals).isNotEmpty().allMatch(request -> request.isLook());
        assertThat(store.inspect("a").toCompletableFuture().join().remainingMillis())
                .isEqualTo(1_000);
        assertThat(lease.remaining()).isEqualTo(ofMillis(898));
        advance(898);
        assertThat(lease.isValid()).isFalse();
    }

    @Test
    void a_lease_shorter_than_the_time_between_renewals_costs_no_look() {
        Lease lease = now(acquire(client, "a", DEFAULTS.leaseFor(ofMillis(900))));
        advance(880);
        assertThat(lease.isValid()).isTrue();
        assertThat(store.count("renew")).isZero();
    }

    @Test
    void very_many_fixed_leases_are_looked_at_together() {
        List<Integer> batches = new ArrayList<>();
        ProbeStore counting = new ProbeStore(server.connect(new StoreContext("many", time))) {
            @Override
            public void renewAll(List<io.holdfast.spi.RenewRequest> requests, io.holdfast.spi.RenewAnswers answers) {
                batches.add(requests.size());
                super.renewAll(requests, answers);
            }
        };
        LockClient many = client("many", counting, settings -> {});
        for (int i = 0; i < 100; i++) {
            now(acquire(many, "a" + i, DEFAULTS.leaseFor(ofMinutes(10))));
        }
        advance(1_500);
        assertThat(batches).containsExactly(100);
    }

    @Test
    void looks_that_fail_end_nothing() {
        Lease lease = now(acquire(client, "a", DEFAULTS.leaseFor(ofSeconds(20))));
        store.renews = Fate.FAIL;
        advance(19_000);
        assertThat(lease.isValid()).isTrue();
        assertThat(client.renewalLag()).isZero();
    }

    @Test
    void a_renewed_lease_that_follows_a_short_fixed_one_is_renewed_in_time() {
        Lease first = now(acquire(client, "a", DEFAULTS.leaseFor(ofMillis(900))));
        CompletableFuture<Lease> next = acquire(client, "a");
        advance(600);
        first.releaseAsync();
        advance(30_000);
        assertThat(now(next).isValid()).isTrue();
    }
}
