package io.holdfast.console;

import static io.holdfast.console.ReadWriteInUse.Mode.READ;
import static io.holdfast.console.ReadWriteInUse.Mode.WRITE;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.holdfast.ClientCard;
import io.holdfast.LockState;
import io.holdfast.PermitsState;
import io.holdfast.ReadWriteState;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class PictureBuilderTest {

    private static final Duration PERIOD = ofSeconds(5);
    private static final String REDISSON = "5f1c0a4e-1111-2222-3333-444455556666:42";

    @Test
    void holderAndQueueComeFromCards() {
        PictureBuilder builder = builder(
                TestCards.of("a").holds("x", 4, null, null, 2),
                TestCards.of("b").waits("x", 8, 3, null),
                TestCards.of("c").waits("x", 9));
        assertThat(builder.unclear()).isEmpty();
        LockRow row = only(builder.rows(Map.of(), Map.of(), Map.of(), List.of(), List.of()));
        assertThat(row.holder().orElseThrow().title()).isEqualTo("a@pod (pid 1)");
        assertThat(row.holder().orElseThrow().isRenewed()).isTrue();
        assertThat(row.flags()).isEmpty();
        assertThat(row.waiters()).isEqualTo(6);
        assertThat(row.longestWait()).isEqualTo(ofSeconds(9));
        assertThat(row.queue())
                .extracting(queued -> queued.client().application())
                .containsExactly("c", "b", "a");
        assertThat(row.pressureSeconds()).isEqualTo(54);
    }

    /** They may have waited for months. */
    @Test
    void candidatesForALeadershipAreNotUrgent() {
        List<LockRow> rows = builder(
                        TestCards.of("a").holds("leader:x", 4).holds("y", 5),
                        TestCards.of("b").waits("leader:x", 8_000_000).waits("y", 1))
                .rows(Map.of(), Map.of(), Map.of(), List.of(), List.of());
        assertThat(rows.stream().sorted(LockRow.BY_URGENCY).map(LockRow::name)).containsExactly("y", "leader:x");
    }

    /** No card ever has it among its holds. Names that were used once have no row, because there may be very many. */
    @Test
    void theBusiestLockHasARowAlthoughNobodySeemsToHoldIt() {
        PictureBuilder builder = builder(
                TestCards.of("a").acquired("hot", 728, 420).acquired("once", 1, 0),
                TestCards.of("b").acquired("hot", 22, 0),
                TestCards.of("c").acquired("silent", 500, 0).heard(16));
        assertThat(builder.unclear()).as("a look costs no command for it").isEmpty();
        LockRow row = only(builder.rows(Map.of(), Map.of(), Map.of(), List.of(), List.of()));
        assertThat(row.name()).isEqualTo("hot");
        assertThat(row.holder()).isEmpty();
        assertThat(row.acquiredPerSecond()).isEqualTo(150);
        assertThat(row.handedOnPerSecond()).isEqualTo(84);
    }

    @Test
    void aSilentHolderIsDeadIfTheStoreSaysThatItsHoldLasts() {
        PictureBuilder builder = builder(TestCards.of("a").holds("x", 4).heard(16));
        assertThat(builder.unclear()).containsExactly("x");
        LockRow row = only(builder.rows(
                Map.of("x", state("x", "hf-a:4", ofSeconds(7))), Map.of(), Map.of(), List.of(), List.of()));
        assertThat(row.flags()).containsExactly(Flag.DEAD);
        assertThat(row.holder().orElseThrow().endsIn()).contains(ofSeconds(7));
    }

    @Test
    void threePeriodsAreNotSilent() {
        PictureBuilder builder = builder(TestCards.of("a").holds("x", 4).heard(15));
        assertThat(builder.unclear()).isEmpty();
        assertThat(only(builder.rows(Map.of(), Map.of(), Map.of(), List.of(), List.of()))
                        .flags())
                .isEmpty();
    }

    /** The hold of the dead client is over: the lock is free, or its new holder has not written a card yet. */
    @Test
    void whatTheStoreSaysCounts() {
        PictureBuilder free = builder(TestCards.of("a").holds("x", 4).heard(60));
        assertThat(free.rows(Map.of("x", free("x")), Map.of(), Map.of(), List.of(), List.of()))
                .isEmpty();

        PictureBuilder taken = builder(TestCards.of("a").holds("x", 4).heard(60), TestCards.of("b"));
        LockRow row = only(
                taken.rows(Map.of("x", state("x", "hf-b:9", ofSeconds(30))), Map.of(), Map.of(), List.of(), List.of()));
        assertThat(row.holder().orElseThrow().title()).isEqualTo("b@pod (pid 1)");
        assertThat(row.holder().orElseThrow().heldFor()).isEmpty();
        assertThat(row.flags()).isEmpty();
    }

    @Test
    void aForeignHolderIsShownAsWhatItIs() {
        PictureBuilder builder = builder(TestCards.of("b").waits("x", 8));
        assertThat(builder.unclear()).containsExactly("x");
        LockRow row = only(builder.rows(
                Map.of("x", state("x", REDISSON, ofSeconds(20))), Map.of(), Map.of(), List.of(), List.of()));
        assertThat(row.holder().orElseThrow().title())
                .isEqualTo("Redisson client 5f1c0a4e-1111-2222-3333-444455556666, thread 42");
        assertThat(row.flags()).containsExactly(Flag.FOREIGN);

        LockRow forEver = only(builder(TestCards.of("b").waits("x", 8))
                .rows(
                        Map.of("x", state("x", "a string that is no lock", null)),
                        Map.of(),
                        Map.of(),
                        List.of(),
                        List.of()));
        assertThat(forEver.flags()).containsExactly(Flag.NO_EXPIRY, Flag.FOREIGN);
    }

    @Test
    void aLeaseOfFixedLengthIsNotRenewed() {
        LockRow row = only(builder(TestCards.of("a").holds("x", 4, "main", ofSeconds(3), 0))
                .rows(Map.of(), Map.of(), Map.of(), List.of(), List.of()));
        assertThat(row.flags()).containsExactly(Flag.NOT_RENEWED);
        assertThat(row.holder().orElseThrow().endsIn()).contains(ofSeconds(3));
        assertThat(row.holder().orElseThrow().thread()).contains("main");
        assertThat(row.holder().orElseThrow().traceId()).contains("4bf92f3577b34da6a3ce929d0e0e4736");
    }

    @Test
    void theLargerTokenIsTheNewerHold() {
        LockRow row =
                only(builder(TestCards.of("a").holds("x", 9), TestCards.of("b").holds("x", 5))
                        .rows(Map.of(), Map.of(), Map.of(), List.of(), List.of()));
        assertThat(row.holder().orElseThrow().id()).isEqualTo("hf-a:9");
    }

    @Test
    void waitersOfASilentClientDoNotCount() {
        assertThat(builder(TestCards.of("b").waits("x", 8).heard(16))
                        .rows(Map.of(), Map.of(), Map.of(), List.of(), List.of()))
                .isEmpty();
    }

    @Test
    void ratesAreOfOnePeriod() {
        LockRow row = only(builder(
                        TestCards.of("a").holds("x", 4).acquired("x", 100, 90),
                        TestCards.of("b").acquired("x", 50, 10))
                .rows(Map.of(), Map.of(), Map.of(), List.of(), List.of()));
        assertThat(row.acquiredPerSecond()).isEqualTo(30);
        assertThat(row.handedOnPerSecond()).isEqualTo(20);
    }

    @Test
    void aNameThatIsWantedHasARowEvenIfItIsFree() {
        LockRow row = only(builder().rows(Map.of("x", free("x")), Map.of(), Map.of(), List.of("x"), List.of()));
        assertThat(row.holder()).isEmpty();
        assertThat(row.waiters()).isZero();
    }

    // --- permits ---

    @Test
    void permitsOfANameAreOneRow() {
        LockRow row = only(builder(
                        TestCards.of("a").permits("x", 5, 2, 3, 1).acquired("permits:x", 10, 0),
                        TestCards.of("b").permits("x", 5, 1, 1, 0),
                        TestCards.of("c").permits("x", 6, 0, 0, 4),
                        TestCards.of("d").permits("x", 5, 0, 0, 9).heard(16))
                .rows(Map.of(), Map.of(), Map.of(), List.of("permits:x"), List.of()));
        assertThat(row.name()).isEqualTo("permits:x");
        assertThat(row.holder()).isEmpty();
        assertThat(row.holderTitle()).contains("4/5,6 a@pod x2, b@pod");
        assertThat(row.heldFor()).contains(ofSeconds(20));
        assertThat(row.permits().orElseThrow().holders())
                .extracting(PermitsInUse.Holder::permits)
                .containsExactly(3, 1);
        assertThat(row.flags()).isEmpty();
        assertThat(row.waiters()).isEqualTo(5);
        assertThat(row.longestWait()).isEqualTo(ofSeconds(3));
        assertThat(row.acquiredPerSecond()).isEqualTo(2);
    }

    @Test
    void permitsAndTheLockOfTheirNameAreTwoRows() {
        List<LockRow> rows = builder(TestCards.of("a").permits("x", 5, 1, 1, 0).holds("x", 4))
                .rows(Map.of(), Map.of(), Map.of(), List.of(), List.of());
        assertThat(rows).extracting(LockRow::name).containsExactly("x", "permits:x");
        assertThat(rows.get(0).holderTitle()).contains("a@pod (pid 1)");
    }

    /** Its permits end with their leases, and its card stays for longer. */
    @Test
    void theStoreKnowsWhatASilentClientHolds() {
        TestCards[] cards = {
            TestCards.of("a").permits("x", 5, 3, 3, 0).heard(16),
            TestCards.of("b").permits("x", 5, 1, 1, 0)
        };
        assertThat(builder(cards).unclearPermits()).containsExactly("x");
        LockRow half = only(builder(cards)
                .rows(
                        Map.of(),
                        Map.of("x", permits(hold("hf-a:1", 1), hold("hf-b:1", 1))),
                        Map.of(),
                        List.of(),
                        List.of()));
        assertThat(half.holderTitle()).contains("2/5 a@pod, b@pod");
        assertThat(half.flags()).containsExactly(Flag.DEAD);
        assertThat(half.freeIn()).contains(ofSeconds(9));
        assertThat(half.permits().orElseThrow().holders())
                .extracting(holder -> holder.client().id(), PermitsInUse.Holder::freeIn)
                .containsExactly(tuple("hf-a", Optional.of(ofSeconds(9))), tuple("hf-b", Optional.empty()));
        LockRow none = only(builder(cards)
                .rows(Map.of(), Map.of("x", permits(hold("hf-b:1", 1))), Map.of(), List.of(), List.of()));
        assertThat(none.holderTitle()).contains("1/5 b@pod");
        assertThat(none.flags()).isEmpty();
        assertThat(builder(cards[0]).rows(Map.of(), Map.of("x", permits()), Map.of(), List.of(), List.of()))
                .isEmpty();
    }

    // --- read-write locks ---

    @Test
    void aReadWriteLockIsOneRowWithItsReadersFolded() {
        LockRow row = only(builder(
                        TestCards.of("a").reads("x", 3, 0).acquired("read:x", 10, 0),
                        TestCards.of("b").reads("x", 1, 2).acquired("write:x", 5, 0),
                        TestCards.of("c").writes("x", 0, 1),
                        TestCards.of("d").writes("x", 0, 9).heard(16))
                .rows(Map.of(), Map.of(), Map.of(), List.of("read-write:x"), List.of()));
        assertThat(row.name()).isEqualTo("read-write:x");
        assertThat(row.plainName()).isEqualTo("x");
        assertThat(row.isPool()).isTrue();
        assertThat(row.holder()).isEmpty();
        assertThat(row.holderTitle()).contains("read a@pod x3, b@pod");
        assertThat(row.heldFor()).contains(ofSeconds(20));
        assertThat(row.queue()).extracting(Queued::mode).containsExactly(Optional.of(READ), Optional.of(WRITE));
        assertThat(row.flags()).isEmpty();
        assertThat(row.waiters()).isEqualTo(3);
        assertThat(row.acquiredPerSecond()).isEqualTo(3);
    }

    @Test
    void theWriterIsNamed() {
        List<LockRow> rows = builder(
                        TestCards.of("a")
                                .writes("x", 1, 0)
                                .permits("x", 5, 1, 1, 0)
                                .holds("x", 4),
                        TestCards.of("b").reads("x", 0, 7))
                .rows(Map.of(), Map.of(), Map.of(), List.of(), List.of());
        assertThat(rows).extracting(LockRow::name).containsExactly("x", "permits:x", "read-write:x");
        assertThat(rows.get(2).holderTitle()).contains("write a@pod");
    }

    @Test
    void theStoreKnowsWhetherASilentClientStillReads() {
        TestCards[] cards = {
            TestCards.of("a").reads("x", 2, 0).heard(16), TestCards.of("b").reads("x", 1, 0)
        };
        assertThat(builder(cards).unclearReadWrite()).containsExactly("x");
        LockRow still =
                only(builder(cards).rows(Map.of(), Map.of(), Map.of("x", held("hf-a:1")), List.of(), List.of()));
        assertThat(still.holderTitle()).contains("read a@pod x2, b@pod");
        assertThat(still.flags()).containsExactly(Flag.DEAD);
        assertThat(still.freeIn()).contains(ofSeconds(9));
        assertThat(still.readWrite().orElseThrow().holders())
                .extracting(ReadWriteInUse.Holder::freeIn)
                .containsExactly(Optional.of(ofSeconds(9)), Optional.empty());
        LockRow gone = only(builder(cards).rows(Map.of(), Map.of(), Map.of("x", held("hf-b:1")), List.of(), List.of()));
        assertThat(gone.holderTitle()).contains("read b@pod");
        assertThat(gone.flags()).isEmpty();
    }

    private static ReadWriteState held(String holder) {
        return new ReadWriteState(
                "x", List.of(new ReadWriteState.Hold(holder, false, ofSeconds(9), 1, Optional.empty())), 0);
    }

    private static PermitsState permits(PermitsState.Hold... holds) {
        return new PermitsState(
                "x", Stream.of(holds).mapToInt(PermitsState.Hold::permits).sum(), List.of(holds), 0);
    }

    private static PermitsState.Hold hold(String holder, int permits) {
        return new PermitsState.Hold(holder, permits, ofSeconds(9), 1, Optional.empty());
    }

    private static PictureBuilder builder(TestCards... cards) {
        List<ClientCard> all = Stream.of(cards).map(TestCards::card).toList();
        return new PictureBuilder(all, PERIOD);
    }

    private static LockState state(String name, String holder, Duration left) {
        return new LockState(
                name, Optional.of(holder), Optional.ofNullable(left), OptionalLong.empty(), 0, Optional.empty());
    }

    private static LockState free(String name) {
        return new LockState(
                name, Optional.empty(), Optional.of(Duration.ZERO), OptionalLong.empty(), 0, Optional.empty());
    }

    private static LockRow only(List<LockRow> rows) {
        assertThat(rows).hasSize(1);
        return rows.get(0);
    }
}
