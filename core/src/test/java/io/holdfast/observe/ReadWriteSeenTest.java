package io.holdfast.observe;

import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.holdfast.CardDetail;
import io.holdfast.ClientCard;
import io.holdfast.ClientCard.ReadWriteUse;
import io.holdfast.DistributedReadWriteLock;
import io.holdfast.ForcedRelease;
import io.holdfast.Inside;
import io.holdfast.Lease;
import io.holdfast.LocalLock;
import io.holdfast.LockClient;
import io.holdfast.LockListener;
import io.holdfast.LockOptions;
import io.holdfast.ReadWriteState;
import io.holdfast.engine.EngineFixture;
import io.holdfast.engine.Warnings;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.logging.Level;
import org.junit.jupiter.api.Test;

/** What is seen of read-write locks: cards, looks at the store, names in use here; and how a hold is ended by force. */
class ReadWriteSeenTest extends EngineFixture {

    private static final long PERIOD = 5_000;

    private final LockClient billing = client("hf-b", probe("hf-b"), settings -> {
        settings.clientName = "billing";
        settings.host = "pod-7";
        settings.pid = 4711;
        settings.listeners = List.of(new LockListener() {
            @Override
            public void lost(String name, long fencingToken, Duration held, String why) {
                events.add("lost " + name);
            }
        });
    });
    private final LockClient reader = client("hf-r");
    private final DistributedReadWriteLock catalog = billing.getReadWriteLock("catalog");

    @Override
    protected CardDetail cards() {
        return CardDetail.NAMES;
    }

    private Lease read() {
        return now(billing.acquireReadAsync("catalog"));
    }

    private CompletableFuture<Lease> write(LockClient by) {
        CompletionStage<Lease> asked = by.acquireWriteAsync("catalog");
        return asked.toCompletableFuture();
    }

    private ClientCard billingsCard() {
        return reader.cards().stream()
                .filter(card -> card.id().equals("hf-b"))
                .findFirst()
                .orElseThrow();
    }

    // --- cards ---

    @Test
    void a_card_has_one_line_for_the_readers_and_one_for_the_writers_of_a_name() {
        Lease first = read();
        advance(1_000);
        Lease second = read();
        CompletableFuture<Lease> writer = write(billing);
        advance(PERIOD);
        List<ReadWriteUse> uses = billingsCard().readWrite();
        assertThat(uses)
                .extracting(ReadWriteUse::name, ReadWriteUse::isWriter, ReadWriteUse::leases, ReadWriteUse::waiters)
                .containsExactly(tuple("catalog", true, 0, 1), tuple("catalog", false, 2, 0));
        assertThat(uses.get(0).waited()).isEqualTo(ofMillis(PERIOD));
        assertThat(uses.get(0).holderId()).isEmpty();
        assertThat(uses.get(1).heldFor()).isEqualTo(ofMillis(PERIOD + 1_000));
        assertThat(uses.get(1).holderId()).contains(first.holderId());
        assertThat(uses.get(1).owner()).isEmpty();
        assertThat(billingsCard().heldCount()).isZero();

        writer.cancel(false);
        first.release();
        second.release();
        advance(PERIOD);
        assertThat(billingsCard().readWrite()).isEmpty();
    }

    @Test
    @SuppressWarnings("deprecation") // threadId() came with Java 19
    void a_card_tells_which_thread_releases() {
        catalog.writeLock().lock();
        advance(PERIOD);
        ReadWriteUse use = billingsCard().readWrite().get(0);
        assertThat(use.isWriter()).isTrue();
        assertThat(use.owner()).hasValue(Thread.currentThread().getId());
        assertThat(billingsCard().busiest())
                .extracting(ClientCard.Activity::name)
                .containsExactly("write:catalog");
        catalog.writeLock().unlock();
    }

    @Test
    void readers_that_a_close_leaves_to_their_work_stay_on_the_last_card() {
        Lease left =
                now(billing.acquireReadAsync("catalog", LockOptions.defaults().leftAtClose()));
        advance(PERIOD);
        Inside.engine(billing).closeAsync();
        assertThat(billingsCard().readWrite()).extracting(ReadWriteUse::leases).containsExactly(1);
        assertThat(left.holderId()).startsWith("hf-b:");
    }

    // --- looks ---

    @Test
    void a_look_names_each_hold_its_half_and_its_client() {
        Lease held = read();
        Lease other = now(reader.acquireReadAsync("catalog"));
        CompletableFuture<Lease> writer = write(reader);
        ReadWriteState state = reader.getReadWriteLock("catalog").inspect();
        assertThat(state.name()).isEqualTo("catalog");
        assertThat(state.readers()).isEqualTo(2);
        assertThat(state.writer()).isEmpty();
        assertThat(state.waiting()).isEqualTo(1);
        ReadWriteState.Hold hold = state.hold(held.holderId()).orElseThrow();
        assertThat(hold.isWriter()).isFalse();
        assertThat(hold.title()).isEqualTo("billing@pod-7 (pid 4711)");
        assertThat(hold.remaining()).isEqualTo(LEASE);
        assertThat(hold.fencingToken()).isEqualTo(held.fencingToken());

        held.release();
        other.release();
        advance(1);
        Lease alone = now(writer);
        ReadWriteState written = catalog.inspect();
        assertThat(written.readers()).isZero();
        assertThat(written.writer().orElseThrow().holder()).isEqualTo(alone.holderId());
        alone.release();
        assertThat(catalog.inspect()).isEqualTo(new ReadWriteState("catalog", List.of(), 0));
    }

    @Test
    void names_in_use_here_have_the_half() {
        read();
        CompletableFuture<Lease> writer = write(billing);
        assertThat(billing.localLocks())
                .extracting(
                        LocalLock::name,
                        LocalLock::waiting,
                        lock -> lock.lease().isPresent())
                .containsExactly(tuple("read:catalog", 0, true), tuple("write:catalog", 1, false));
        writer.cancel(false);
    }

    // --- by force ---

    @Test
    void one_hold_is_ended_and_its_client_knows_at_once() {
        Lease here = read();
        Lease elsewhere = now(reader.acquireReadAsync("catalog"));
        CompletableFuture<Lease> writer = write(reader);
        try (Warnings log = new Warnings(Level.INFO)) {
            ForcedRelease release = catalog.forceRelease(here.holderId());
            assertThat(release.isEnded()).isTrue();
            assertThat(release.holderTitle()).contains("billing@pod-7 (pid 4711)");
            assertThat(log.said("was ended by force"))
                    .containsExactly("One hold on the read-write lock \"catalog\" was ended by force through this"
                            + " client; it was that of \"" + here.holderId() + "\", billing@pod-7 (pid 4711)");
        }
        assertThat(here.isValid()).isFalse();
        assertThat(events).containsExactly("lost read:catalog");
        assertThat(elsewhere.isValid()).isTrue();
        assertBusy(writer);
        assertThat(catalog.forceRelease(elsewhere.holderId()).isEnded()).isTrue();
        advance(1);
        assertThat(elsewhere.isValid()).isFalse();
        now(writer);
    }

    @Test
    void who_holds_nothing_is_not_released() {
        assertThat(catalog.forceRelease("hf-b:1").outcome()).isEqualTo(ForcedRelease.Outcome.FREE);
        Lease held = read();
        assertThat(catalog.forceRelease("hf-z:9").outcome()).isEqualTo(ForcedRelease.Outcome.HELD_BY_ANOTHER);
        assertThat(held.isValid()).isTrue();
        assertThatThrownBy(() -> catalog.forceRelease("").isEnded()).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void all_holds_are_ended() {
        List<Lease> held = List.of(read(), now(reader.acquireReadAsync("catalog")));
        assertThat(catalog.forceReleaseAll()).isTrue();
        advance(1);
        assertThat(held).noneMatch(Lease::isValid);
        assertThat(catalog.forceReleaseAll()).isFalse();
    }
}
