package io.holdfast.observe;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.holdfast.CardDetail;
import io.holdfast.ClientCard;
import io.holdfast.ClientCard.PermitsUse;
import io.holdfast.ForcedRelease;
import io.holdfast.Inside;
import io.holdfast.Lease;
import io.holdfast.LocalLock;
import io.holdfast.LockClient;
import io.holdfast.LockListener;
import io.holdfast.LockOptions;
import io.holdfast.LockStoreException;
import io.holdfast.Permits;
import io.holdfast.PermitsState;
import io.holdfast.engine.EngineFixture;
import io.holdfast.engine.ForwardingStore;
import io.holdfast.engine.ProbeStore;
import io.holdfast.engine.ProbeStore.Fate;
import io.holdfast.engine.Warnings;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.logging.Level;
import org.junit.jupiter.api.Test;

/** What is seen of permits: cards, looks at the store, names in use here, failures; and how a hold is ended by force. */
class PermitsSeenTest extends EngineFixture {

    private static final long PERIOD = 5_000;

    private final ProbeStore behind = probe("hf-b");
    private final LockClient billing = client("hf-b", behind, settings -> {
        settings.clientName = "billing";
        settings.host = "pod-7";
        settings.pid = 4711;
        settings.listeners = List.of(new LockListener() {
            @Override
            public void storeFailed(String name, String command, StoreException cause) {
                events.add(command + " failed for " + name);
            }

            @Override
            public void lost(String name, long fencingToken, Duration held, String why) {
                events.add("lost " + name);
            }
        });
    });
    private final LockClient reader = client("hf-r");
    private final Permits exports = billing.permits("export", 5);

    @Override
    protected CardDetail cards() {
        return CardDetail.NAMES;
    }

    private Lease take(Permits permits) {
        return now(permits.acquireAsync());
    }

    private static CompletableFuture<Lease> ask(Permits permits) {
        return permits.acquireAsync().toCompletableFuture();
    }

    private List<PermitsUse> onBillingsCard() {
        return reader.cards().stream()
                .filter(card -> card.id().equals("hf-b"))
                .findFirst()
                .map(ClientCard::permits)
                .orElseThrow();
    }

    // --- cards ---

    @Test
    void a_card_has_one_line_for_all_permits_of_a_name() {
        Lease big = take(exports.weight(3));
        advance(1_000);
        Lease small = take(exports);
        CompletableFuture<Lease> first = ask(exports.weight(2));
        advance(1_000);
        CompletableFuture<Lease> second = ask(exports);
        advance(PERIOD);
        PermitsUse use = onBillingsCard().get(0);
        assertThat(onBillingsCard()).hasSize(1);
        assertThat(use).extracting(PermitsUse::name, PermitsUse::limit).containsExactly("export", 5);
        assertThat(use.leases()).isEqualTo(2);
        assertThat(use.held()).isEqualTo(4);
        assertThat(use.heldFor()).isEqualTo(ofMillis(PERIOD + 2_000));
        assertThat(use.waiters()).isEqualTo(2);
        assertThat(use.waited()).isEqualTo(ofMillis(PERIOD + 1_000));

        first.cancel(false);
        second.cancel(false);
        big.release();
        small.release();
        advance(PERIOD);
        assertThat(onBillingsCard()).isEmpty();
    }

    @Test
    void locks_of_a_card_stay_what_they_were() {
        Lease lock = now(acquire(billing, "export"));
        Lease permit = take(exports);
        advance(PERIOD);
        ClientCard card = reader.cards().stream()
                .filter(each -> each.id().equals("hf-b"))
                .findFirst()
                .orElseThrow();
        assertThat(card.heldCount()).isEqualTo(1);
        assertThat(card.hold("export").orElseThrow().holderId()).isEqualTo(lock.holderId());
        assertThat(card.busiest())
                .extracting(ClientCard.Activity::name)
                .containsExactlyInAnyOrder("export", "permits:export");
        permit.release();
        lock.release();
    }

    @Test
    void a_card_has_a_line_for_each_limit_of_a_name() {
        Lease one = take(exports);
        Lease other = take(billing.permits("export", 7).weight(2));
        advance(PERIOD);
        assertThat(onBillingsCard())
                .extracting(PermitsUse::limit, PermitsUse::held)
                .containsExactly(tuple(5, 1), tuple(7, 2));
        one.release();
        other.release();
    }

    @Test
    void permits_that_a_close_leaves_to_their_work_stay_on_the_last_card() {
        Lease left = now(exports.weight(2).acquireAsync(LockOptions.defaults().leftAtClose()));
        advance(PERIOD);
        Inside.engine(billing).closeAsync();
        assertThat(onBillingsCard()).extracting(PermitsUse::held).containsExactly(2);
        assertThat(left.holderId()).startsWith("hf-b:");
    }

    // --- looks ---

    @Test
    void a_look_names_each_hold_and_its_client() {
        Lease big = take(exports.weight(3));
        Lease small = take(reader.permits("export", 5));
        CompletableFuture<Lease> waiting = ask(exports.weight(2));
        PermitsState state = reader.permits("export", 1).inspect();
        assertThat(state.name()).isEqualTo("export");
        assertThat(state.used()).isEqualTo(4);
        assertThat(state.waiting()).isEqualTo(1);
        assertThat(state.holds())
                .extracting(PermitsState.Hold::holder, PermitsState.Hold::permits)
                .containsExactlyInAnyOrder(tuple(big.holderId(), 3), tuple(small.holderId(), 1));
        PermitsState.Hold hold = state.hold(big.holderId()).orElseThrow();
        assertThat(hold.title()).isEqualTo("billing@pod-7 (pid 4711)");
        assertThat(hold.remaining()).isEqualTo(LEASE);
        assertThat(hold.fencingToken()).isEqualTo(big.fencingToken());

        waiting.cancel(false);
        big.release();
        small.release();
        PermitsState free = reader.permits("export", 1).inspect();
        assertThat(free).isEqualTo(new PermitsState("export", 0, List.of(), 0));
        assertThat(free.isUsed()).isFalse();
    }

    @Test
    void names_in_use_here_have_the_kind_of_permits() {
        take(exports);
        take(exports.weight(4));
        CompletableFuture<Lease> waiting = ask(exports);
        advance(2_000);
        assertThat(billing.localLocks())
                .extracting(
                        LocalLock::name,
                        LocalLock::waiting,
                        lock -> lock.lease().isPresent())
                .containsExactlyInAnyOrder(
                        tuple("permits:export", 0, true),
                        tuple("permits:export", 0, true),
                        tuple("permits:export", 1, false));
        assertThat(billing.localLocks())
                .filteredOn(lock -> lock.waiting() > 0)
                .extracting(LocalLock::longestWait)
                .containsExactly(ofSeconds(2));
        waiting.cancel(false);
    }

    @Test
    void a_store_without_permits_says_so() {
        LockStore plain = new ForwardingStore(server.connect(new StoreContext("hf-p", time))) {
            @Override
            public Optional<LockStore> pools() {
                return Optional.empty();
            }
        };
        LockClient poor = LockClient.builder()
                .store(plain)
                .timeSource(time)
                .cards(CardDetail.OFF)
                .build();
        clients.add(poor);
        assertThat(billing.hasPermits()).isTrue();
        assertThat(poor.hasPermits()).isFalse();
        assertThatThrownBy(() -> poor.permits("export", 1).inspect())
                .isInstanceOf(LockStoreException.class)
                .hasMessageContaining("has no permits");
    }

    // --- failures ---

    @Test
    void a_failed_renewal_is_reported_with_the_kind() {
        take(exports);
        requireNonNull(behind.pools).renews = Fate.FAIL;
        advance(1_500);
        assertThat(events).contains("renew failed for permits:export").doesNotContain("renew failed for export");
        requireNonNull(behind.pools).renews = Fate.PASS;
    }

    // --- by force ---

    @Test
    void one_hold_is_ended_and_its_client_knows_at_once() {
        Lease first = take(exports.weight(2));
        Lease second = take(exports.weight(3));
        CompletableFuture<Lease> waiting = ask(exports);
        try (Warnings log = new Warnings(Level.INFO)) {
            ForcedRelease release = exports.forceRelease(first.holderId());
            assertThat(release.outcome()).isEqualTo(ForcedRelease.Outcome.ENDED);
            assertThat(release.holderTitle()).contains("billing@pod-7 (pid 4711)");
            assertThat(log.said("released by force"))
                    .containsExactly("The permits of \"export\" with one holder were released by force through this"
                            + " client; they were held by \"" + first.holderId() + "\", billing@pod-7 (pid 4711)");
        }
        assertThat(first.isValid()).isFalse();
        assertThat(events).containsExactly("lost permits:export");
        assertThat(second.isValid()).isTrue();
        advance(1);
        now(waiting);
    }

    @Test
    void a_holder_elsewhere_is_told() {
        Lease held = take(exports);
        assertThat(reader.permits("export", 1).forceRelease(held.holderId()).isEnded())
                .isTrue();
        advance(1);
        assertThat(held.isValid()).isFalse();
    }

    @Test
    void who_holds_nothing_is_not_released() {
        assertThat(exports.forceRelease("hf-b:1").outcome()).isEqualTo(ForcedRelease.Outcome.FREE);
        Lease held = take(exports);
        assertThat(exports.forceRelease("hf-z:9").outcome()).isEqualTo(ForcedRelease.Outcome.HELD_BY_ANOTHER);
        // The lock of the name is another thing.
        assertThat(reader.forceRelease("export")).isFalse();
        assertThat(held.isValid()).isTrue();
        assertThatThrownBy(() -> exports.forceRelease("").isEnded()).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void all_holds_are_ended() {
        List<Lease> held = List.of(
                take(exports.weight(2)), take(reader.permits("export", 5).weight(3)));
        CompletableFuture<Lease> waiting = ask(exports.weight(5));
        assertThat(exports.forceReleaseAll()).isTrue();
        advance(1);
        assertThat(held).noneMatch(Lease::isValid);
        now(waiting).release();
        assertThat(exports.forceReleaseAll()).isFalse();
    }
}
