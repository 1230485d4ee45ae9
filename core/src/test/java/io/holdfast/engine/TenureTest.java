package io.holdfast.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.spi.RenewRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/**
 * What a client that passes the lock on locally knows of waiters at other clients. The lease is 3 s, a tenure 10 ms.
 */
class TenureTest extends EngineFixture {

    private final LockClient other = client("two");

    @Test
    void hands_over_soon_though_the_message_that_somebody_waits_was_lost() {
        store.messages = false;
        List<CompletableFuture<Lease>> here = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            here.add(acquire(client, "a"));
        }
        CompletableFuture<Lease> there = acquire(other, "a");
        // Each holds for 5 ms. The next regular renewal is after a second.
        int passed = 0;
        while (!there.isDone()) {
            now(here.get(passed++)).release();
            advance(5);
        }
        assertThat(there).isCompleted();
        assertThat(passed).isLessThan(30);
        now(there).release();
        here.forEach(lease -> lease.cancel(false));
    }

    @Test
    void does_not_ask_while_nobody_here_waits() {
        CompletableFuture<Lease> alone = acquire(client, "a");
        advance(900);
        assertThat(now(alone).isValid()).isTrue();
        assertThat(store.renewals).isEmpty();
    }

    @Test
    void a_renewal_asks_who_waits_elsewhere_only_while_somebody_waits_here() {
        CompletableFuture<Lease> alone = acquire(client, "a");
        advance(1_000);
        CompletableFuture<Lease> next = acquire(client, "a");
        advance(1_000);
        assertThat(store.renewals.stream().map(RenewRequest::counted)).containsExactly(false, true);
        next.cancel(false);
        now(alone).release();
    }
}
