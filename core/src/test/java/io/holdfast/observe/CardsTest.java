package io.holdfast.observe;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.holdfast.CardDetail;
import io.holdfast.ClientCard;
import io.holdfast.ClientCard.HeldLock;
import io.holdfast.ClientCard.WaitedLock;
import io.holdfast.Inside;
import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockTimeoutException;
import io.holdfast.engine.EngineFixture;
import io.holdfast.engine.ProbeStore;
import io.holdfast.engine.Waiter;
import io.holdfast.engine.Warnings;
import io.holdfast.spi.CardStore;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.StoredCard;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What a client says about itself, and who reads it. */
class CardsTest extends EngineFixture {

    private static final long PERIOD = 5_000;

    private final List<Lease> kept = new ArrayList<>();

    private final LockClient billing = client("hf-b", probe("hf-b"), settings -> {
        settings.clientName = "billing";
        settings.host = "pod-7";
        settings.pid = 4711;
    });
    private final LockClient reader = client("hf-r");

    @Override
    protected CardDetail cards() {
        return CardDetail.NAMES;
    }

    private ClientCard billingsCard() {
        return reader.cards().stream()
                .filter(card -> card.id().equals("hf-b"))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void a_client_says_who_it_is_when_it_connects_and_what_it_holds_a_period_later() {
        kept.add(billing.tryAcquire("a").orElseThrow());
        assertThat(billingsCard().title()).isEqualTo("billing@pod-7 (pid 4711)");
        assertThat(billing.inspect("a").holderTitle()).contains("billing@pod-7 (pid 4711)");
        assertThat(billingsCard().held()).isEmpty();
        advance(PERIOD - 2_000);
        assertThat(billingsCard().held()).isEmpty();
        advance(2_000);
        assertThat(billingsCard().held()).extracting(HeldLock::name).containsExactly("a");
    }

    @Test
    void it_says_what_is_held_and_waited_for() throws Exception {
        Lease renewed = billing.tryAcquire("a").orElseThrow();
        Lease fixed = billing.tryAcquire("b", DEFAULTS.leaseFor(ofSeconds(60))).orElseThrow();
        CompletableFuture<Lease> second = acquire(billing, "a");
        Lease theirs = reader.tryAcquire("c").orElseThrow();
        CompletableFuture<Lease> waiting = acquire(billing, "c");

        advance(2 * PERIOD);

        ClientCard card = billingsCard();
        assertThat(card.heldCount()).isEqualTo(2);
        assertThat(card.held()).extracting(HeldLock::name).containsExactly("a", "b");
        HeldLock a = card.held().get(0);
        assertThat(a.fencingToken()).isEqualTo(renewed.fencingToken());
        assertThat(a.heldFor()).isEqualTo(ofMillis(2 * PERIOD));
        assertThat(a.remaining()).isEmpty();
        assertThat(a.waiters()).isEqualTo(1);
        assertThat(a.longestWait()).isEqualTo(ofMillis(2 * PERIOD));
        assertThat(a.thread()).isEmpty();
        assertThat(card.held().get(1).remaining().orElseThrow()).isBetween(ofSeconds(48), ofSeconds(50));
        WaitedLock c = card.waiting().get(0);
        assertThat(c.name()).isEqualTo("c");
        assertThat(c.holder()).contains(reader.inspect("c").holder().orElseThrow());
        assertThat(c.waited()).isEqualTo(ofMillis(2 * PERIOD));
        assertThat(reader.inspect("a").holderTitle()).contains("billing@pod-7 (pid 4711), for 10 s");

        assertThat(second.cancel(true)).isTrue();
        assertThat(waiting.cancel(true)).isTrue();
        theirs.release();
        fixed.release();
        renewed.release();
        advance(PERIOD);
        assertThat(billingsCard().held()).isEmpty();
        assertThat(billingsCard().heldCount()).isZero();
    }

    /** A cycle of clients is a deadlock only if the same threads hold and wait. */
    @Test
    void it_says_which_holds_and_waits_are_of_one_thread() {
        kept.add(reader.tryAcquire("x").orElseThrow());
        kept.add(reader.tryAcquire("y").orElseThrow());
        kept.add(billing.tryAcquire("any thread").orElseThrow());
        assertThat(billing.getLock("its thread").tryLock()).isTrue();
        CompletableFuture<Lease> stage = acquire(billing, "x");
        Waiter thread = Inside.engine(billing).submit("y", DEFAULTS, Waiter.Mode.PATIENT);
        billing.tryRun("task", lease -> {
            advance(PERIOD);

            ClientCard card = billingsCard();
            long owner = card.hold("its thread").orElseThrow().owner().orElseThrow();
            assertThat(card.hold("task").orElseThrow().owner()).hasValue(owner);
            assertThat(card.hold("any thread").orElseThrow().owner()).isEmpty();
            assertThat(card.waiting())
                    .extracting(WaitedLock::name, WaitedLock::owner)
                    .containsExactlyInAnyOrder(tuple("x", OptionalLong.empty()), tuple("y", OptionalLong.of(owner)));
        });
        assertThat(stage.cancel(true)).isTrue();
        assertThat(thread.withdraw()).isTrue();
        billing.getLock("its thread").unlock();
    }

    @Test
    void ages_go_on_while_nothing_changes_and_the_card_is_only_kept() {
        Lease lease = billing.tryAcquire("a").orElseThrow();
        advance(2 * PERIOD); // the second card has no counts any more
        Duration first = billingsCard().hold("a").orElseThrow().heldFor();
        advance(4 * PERIOD + 1_000);
        ClientCard card = billingsCard();
        assertThat(card.hold("a").orElseThrow().heldFor()).isEqualTo(first.plusMillis(4 * PERIOD + 1_000));
        assertThat(card.heard()).isLessThanOrEqualTo(ofMillis(PERIOD));
        lease.release();
    }

    @Test
    void what_happened_since_the_card_before_is_counted() throws Exception {
        for (int i = 0; i < 3; i++) {
            billing.tryAcquire("a").orElseThrow().release();
        }
        Lease held = billing.tryAcquire("b").orElseThrow();
        CompletableFuture<Lease> next = acquire(billing, "b");
        assertThat(billing.tryAcquire("b")).isEmpty();
        held.release();
        now(next).release();

        advance(PERIOD);

        assertThat(billingsCard().busiest())
                .containsExactly(
                        new ClientCard.Activity("a", 3, 0, 0, Duration.ZERO),
                        new ClientCard.Activity("b", 2, 1, 1, Duration.ZERO));
        advance(PERIOD);
        assertThat(billingsCard().busiest()).isEmpty();
    }

    @Test
    void of_many_the_oldest_are_shown() {
        for (int i = 0; i < 250; i++) {
            kept.add(billing.tryAcquire("n" + i).orElseThrow());
            advance(10);
        }
        advance(PERIOD);
        assertThat(billingsCard().heldCount()).isEqualTo(250);
        assertThat(billingsCard().held()).hasSize(200);
        assertThat(billingsCard().held().get(0).name()).isEqualTo("n0");
        assertThat(billingsCard().held().get(199).name()).isEqualTo("n199");
    }

    @Test
    void a_card_has_a_largest_size() {
        for (int i = 0; i < 100; i++) {
            kept.add(billing.tryAcquire(i + "x".repeat(1_000)).orElseThrow());
        }
        advance(PERIOD);
        ClientCard card = billingsCard();
        assertThat(card.heldCount()).isEqualTo(100);
        assertThat(card.held()).hasSizeBetween(20, 35);
    }

    @Test
    void the_card_of_a_dead_client_outlives_its_hold() {
        LockClient dying = client("hf-d", probe("hf-d"), settings -> settings.clientName = "dying");
        kept.add(dying.tryAcquire("a").orElseThrow());
        advance(PERIOD);
        ((Observability) Inside.engine(dying).events)
                .cards.stop(); // as if the process had ended: the card is not removed
        advance(40_000);
        ClientCard card = reader.cards().stream()
                .filter(one -> one.id().equals("hf-d"))
                .findFirst()
                .orElseThrow();
        assertThat(card.heard()).isGreaterThanOrEqualTo(ofSeconds(40));
        assertThat(card.hold("a")).isPresent();
        advance(30_000);
        assertThat(reader.cards()).extracting(ClientCard::id).doesNotContain("hf-d");
    }

    @Test
    void a_card_that_is_on_its_way_at_the_end_is_removed_too() {
        ProbeStore slow = probe("hf-e");
        SlowCards cards = new SlowCards(slow.cards().orElseThrow());
        slow.cards = cards;
        LockClient ending = client("hf-e", slow, settings -> {});
        assertThat(cards.held).isNotNull();
        var closed = Inside.engine(ending).closeAsync().toCompletableFuture();
        cards.held.run(); // the server executes the write only now
        assertThat(closed).isCompleted();
        assertThat(reader.cards()).extracting(ClientCard::id).doesNotContain("hf-e");
    }

    /** However many wait, and however often: who the holder is does not change. */
    @Test
    void a_wait_reads_an_unknown_holder_once_and_an_attempt_does_not() {
        ProbeStore counting = probe("hf-w");
        SlowCards cards = new SlowCards(counting.cards().orElseThrow());
        counting.cards = cards;
        LockClient waits = client("hf-w", counting, settings -> {});
        assertThat(cards.commands).as("its own name").isEqualTo(1);
        Lease a = billing.tryAcquire("a").orElseThrow();
        Lease b = billing.tryAcquire("b").orElseThrow();
        assertThat(waits.tryAcquire("a")).isEmpty();
        assertThat(cards.commands).isEqualTo(1);
        List<CompletableFuture<Lease>> waiting = List.of(acquire(waits, "a"), acquire(waits, "a"), acquire(waits, "b"));
        advance(4_000);
        assertThat(cards.commands).isEqualTo(2);
        waiting.forEach(each -> assertThat(each.cancel(true)).isTrue());
        a.release();
        b.release();
    }

    @Test
    void a_short_wait_names_a_holder_that_has_just_begun() {
        Lease lease = billing.tryAcquire("a").orElseThrow();
        CompletableFuture<Lease> waiting = acquire(reader, "a", DEFAULTS.waitAtMost(ofSeconds(1)));
        advance(1_000);
        assertThatThrownBy(waiting::join)
                .cause()
                .hasMessage("The lock \"a\" was held by others for 1 s, last by billing@pod-7 (pid 4711)");
        lease.release();
    }

    @Test
    void of_many_clients_each_writes_more_seldom() {
        ProbeStore counting = probe("hf-m");
        SlowCards cards = new SlowCards(counting.cards().orElseThrow());
        cards.clients = 2_000;
        counting.cards = cards;
        client("hf-m", counting, settings -> {});
        cards.held.run();
        assertThat(cards.commands).isEqualTo(1);
        advance(2_000 * 10 - PERIOD);
        assertThat(cards.commands).isEqualTo(1);
        advance(2 * PERIOD);
        assertThat(cards.commands).isEqualTo(2);
    }

    @Test
    void a_client_that_is_closed_has_no_card() {
        advance(PERIOD);
        assertThat(reader.cards()).extracting(ClientCard::id).contains("hf-b");
        billing.close();
        assertThat(reader.cards()).extracting(ClientCard::id).doesNotContain("hf-b");
    }

    @Test
    void a_client_may_say_nothing_or_name_its_threads() {
        LockClient silent = client("hf-s", probe("hf-s"), settings -> settings.cards = CardDetail.OFF);
        LockClient open = client("hf-o", probe("hf-o"), settings -> settings.cards = CardDetail.THREADS);
        Lease lease = silent.tryAcquire("a").orElseThrow();
        assertThat(open.getLock("b").tryLock()).isTrue();
        advance(PERIOD);
        assertThat(reader.cards()).extracting(ClientCard::id).contains("hf-o").doesNotContain("hf-s");
        ClientCard card = reader.cards().stream()
                .filter(one -> one.id().equals("hf-o"))
                .findFirst()
                .orElseThrow();
        assertThat(card.held().get(0).thread()).contains(Thread.currentThread().getName());
        open.getLock("b").unlock();
        lease.release();
    }

    @Test
    void a_timeout_names_the_holder_by_its_card() {
        Lease lease = billing.tryAcquire("a").orElseThrow();
        advance(PERIOD);
        CompletableFuture<Lease> waiting = acquire(reader, "a", DEFAULTS.waitAtMost(ofSeconds(7)));
        advance(7_000);
        assertThatThrownBy(waiting::join)
                .cause()
                .isInstanceOf(LockTimeoutException.class)
                .hasMessageContaining("last by billing@pod-7 (pid 4711)");
        lease.release();
    }

    @Test
    void what_is_written_is_read() {
        String odd = "tab\t line\n back\\slash \\t \u0007 ß \ud83d\udd12";
        LockClient strange = client("hf-x", probe("hf-x"), settings -> {
            settings.clientName = odd;
            settings.host = odd;
        });
        Lease lease = strange.tryAcquire(odd).orElseThrow();
        advance(PERIOD);
        ClientCard card = reader.cards().stream()
                .filter(one -> one.id().equals("hf-x"))
                .findFirst()
                .orElseThrow();
        String shown = "tab\\u0009 line\\u000a back\\slash \\t \\u0007 ß \ud83d\udd12";
        assertThat(card.application()).isEqualTo(shown);
        assertThat(card.host()).isEqualTo(shown);
        assertThat(card.held()).extracting(HeldLock::name).containsExactly(odd);
        assertThat(card.title()).doesNotContain("\n").doesNotContain("\t").doesNotContain("\u0007");
        lease.release();
    }

    @Test
    void a_store_that_refuses_cards_keeps_locks() {
        ProbeStore refusing = probe("hf-n");
        refusing.cards = new RefusingCards();
        try (Warnings warnings = new Warnings(java.util.logging.Level.INFO)) {
            LockClient poor = client("hf-n", refusing, settings -> {});
            Lease lease = poor.tryAcquire("a").orElseThrow();
            advance(60 * PERIOD);
            assertThat(lease.isValid()).isTrue();
            assertThat(poor.inspect("a").holderCard()).isEmpty();
            assertThat(warnings.said("no right to keep a card")).hasSize(1);
            lease.release();
        }
    }

    /** Passes a write on only when the test releases it. */
    private static final class SlowCards implements CardStore {

        private final CardStore below;
        private @Nullable Runnable held;
        private int commands;
        private int clients;

        SlowCards(CardStore below) {
            this.below = below;
        }

        @Override
        public CompletableFuture<Integer> write(String text, Duration keep) {
            commands++;
            CompletableFuture<Integer> answer = new CompletableFuture<>();
            held = () -> below.write(text, keep).thenAccept(n -> answer.complete(clients == 0 ? n : clients));
            return answer;
        }

        @Override
        public CompletionStage<Boolean> keep(Duration keep) {
            commands++;
            return below.keep(keep);
        }

        @Override
        public CompletionStage<List<StoredCard>> read() {
            commands++;
            return below.read();
        }

        @Override
        public CompletionStage<Optional<StoredCard>> read(String clientId) {
            commands++;
            return below.read(clientId);
        }

        @Override
        public CompletionStage<Void> remove() {
            return below.remove();
        }
    }

    private static final class RefusingCards implements CardStore {

        private static <T> CompletableFuture<T> refused() {
            return CompletableFuture.failedFuture(
                    new StoreException(StoreException.Outcome.FATAL, "no right to keep a card", null));
        }

        @Override
        public CompletableFuture<Integer> write(String text, Duration keep) {
            return refused();
        }

        @Override
        public CompletableFuture<Boolean> keep(Duration keep) {
            return refused();
        }

        @Override
        public CompletableFuture<List<StoredCard>> read() {
            return refused();
        }

        @Override
        public CompletableFuture<Optional<StoredCard>> read(String clientId) {
            throw new IllegalStateException("a defect in a store");
        }

        @Override
        public CompletableFuture<Void> remove() {
            return refused();
        }
    }
}
