package io.holdfast.testkit.contract;

import static io.holdfast.testkit.contract.StoreClient.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.holdfast.spi.AcquireReply;
import io.holdfast.spi.AcquireReply.Busy;
import io.holdfast.spi.AcquireReply.Granted;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.ForceReply;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.ReleaseReply;
import io.holdfast.spi.ReleaseRequest;
import io.holdfast.spi.RenewReply;
import io.holdfast.spi.RenewReply.Gone;
import io.holdfast.spi.RenewReply.Renewed;
import io.holdfast.spi.RenewRequest;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.StoreState;
import io.holdfast.testkit.contract.RecordingListener.Kind;
import io.holdfast.testkit.contract.RecordingListener.Message;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * The contract of {@link LockStore#pools}, as tests. A pool of capacity 1 passes the whole contract of a lock. A store's
 * own test extends this class as it extends {@link LockStoreContract}, and opens the store whose view is tested.
 *
 * <pre>{@code
 * class TablePoolTest extends PoolContract {
 *     @Override
 *     protected LockStore open(StoreContext context) {
 *         return new TableLockStore(database, context);
 *     }
 * }
 * }</pre>
 */
public abstract class PoolContract extends ReadWriteContract {

    private static final int CAPACITY = 5;
    private static final int TOO_MUCH = AcquireRequest.CAPACITY_MAX + 1;

    /** Creates a contract, for subclasses. */
    protected PoolContract() {}

    @Override
    final LockStore view(LockStore opened) {
        opened.listen(new RecordingListener());
        return opened.pools().orElseThrow();
    }

    // --- several holders ---

    @Test
    void aPoolHasAsManyHoldersAsItsCapacity() {
        List<String> holders = new ArrayList<>();
        for (int i = 0; i < CAPACITY; i++) {
            holders.add(permit(i % 2 == 0 ? a : b));
        }
        Busy busy = busy(c.take(name, c.newId(), LONG, 1, CAPACITY));
        assertThat(holders).contains(busy.holder());
        assertThat(busy.remainingMillis()).isBetween(MEDIUM.toMillis() + 1, LONG.toMillis());
        assertThat(busy.ahead()).isZero();

        assertThat(b.release(name, holders.get(1))).isTrue();
        permit(c);
        assertThat(a.inspect(name).used()).isEqualTo(CAPACITY);
    }

    @Test
    void thePoolIsSeenWithEachHold() {
        String heavy = a.newId();
        long base = granted(a.take(name, heavy, LONG, 3, CAPACITY)).base();
        String light = b.newId();
        long second = granted(b.take(name, light, MEDIUM, 1, CAPACITY)).base();

        StoreState state = c.inspect(name);
        assertThat(state.used()).isEqualTo(4);
        assertThat(state.held())
                .extracting(StoreState.Held::holderId, StoreState.Held::weight)
                .containsExactlyInAnyOrder(tuple(heavy, 3), tuple(light, 1));
        // The hold that ends first stands for the pool.
        assertThat(state.holder()).isEqualTo(light);
        assertThat(state.remainingMillis()).isBetween(1L, MEDIUM.toMillis());
        if (showsBases()) {
            assertThat(state.base()).isEqualTo(second);
            assertThat(held(state, heavy).base()).isEqualTo(base);
        }
        assertThat(held(state, heavy).remainingMillis()).isBetween(MEDIUM.toMillis() + 1, LONG.toMillis());
        assertThat(held(state, light).remainingMillis()).isBetween(1L, MEDIUM.toMillis());
    }

    @Test
    void aBusyPoolSaysWhenItsFirstHoldEnds() {
        assumeTrue(knowsEnds());
        granted(a.take(name, a.newId(), LONG, 2, CAPACITY));
        String first = b.newId();
        granted(b.take(name, first, MEDIUM, 2, CAPACITY));
        Busy busy = busy(c.take(name, c.newId(), LONG, 2, CAPACITY));
        assertThat(busy.holder()).isEqualTo(first);
        assertThat(busy.remainingMillis()).isBetween(1L, MEDIUM.toMillis());
    }

    @Test
    void basesGrowFromHolderToHolder() {
        long last = 0;
        for (int i = 0; i < CAPACITY; i++) {
            long base = granted(a.take(name, a.newId(), LONG, 1, CAPACITY)).base();
            assertThat(base).isGreaterThan(last);
            last = base;
        }
    }

    @Test
    void aPoolAndTheLockOfItsNameAreTwoThings() {
        LockStore locks = open(new StoreContext(a.id + "-locks", time()));
        try {
            locks.listen(new RecordingListener());
            String lock = a.id + "-locks:1";
            granted(get(locks.acquire(AcquireRequest.once(name, lock, LONG.toMillis()))));
            String holder = hold(a, name);
            assertThat(get(locks.inspect(name)).holder()).isEqualTo(lock);
            assertThat(get(locks.release(ReleaseRequest.of(name, lock))).wasHeld())
                    .isTrue();
            assertHolder(a, name, holder);
            assertThat(get(locks.inspect(name))).isEqualTo(StoreState.free(0));
        } finally {
            locks.close();
        }
    }

    @Test
    void aViewIsOneObjectAndItsCloseDoesNothing() {
        LockStore view = a.store();
        String holder = hold(a, name);
        view.close();
        assertThat(a.release(name, holder)).isTrue();
        assertThat(view.canAcquireAll(List.of(name, name + "2"))).isFalse();
    }

    // --- weights ---

    @Test
    void aHoldTakesItsWeight() {
        String heavy = a.newId();
        granted(a.take(name, heavy, LONG, 4, CAPACITY));
        busy(b.take(name, b.newId(), LONG, 2, CAPACITY));
        permit(b);
        busy(b.take(name, b.newId(), LONG, 1, CAPACITY));
        assertThat(a.inspect(name).used()).isEqualTo(CAPACITY);

        assertThat(a.release(name, heavy)).isTrue();
        assertThat(a.inspect(name).used()).isEqualTo(1);
        granted(c.take(name, c.newId(), LONG, 4, CAPACITY));
    }

    @Test
    void theLargestPoolIsServed() {
        int most = AcquireRequest.CAPACITY_MAX;
        String all = a.newId();
        granted(a.take(name, all, LONG, most, most));
        busy(b.take(name, b.newId(), LONG, 1, most));
        assertThat(a.inspect(name).used()).isEqualTo(most);
        assertThat(a.release(name, all)).isTrue();
        granted(b.take(name, b.newId(), LONG, most - 1, most));
        granted(b.take(name, b.newId(), LONG, 1, most));
    }

    @Test
    void aWeightThatCanNeverFitIsRefused() {
        for (int[] wrong : new int[][] {{2, 1}, {0, 1}, {-1, 5}, {6, 5}, {1, TOO_MUCH}}) {
            AcquireRequest request =
                    StoreClient.queueing(name, a.newId(), LONG, MEDIUM).weighing(wrong[0], wrong[1]);
            assertThat(a.store().acquire(request).toCompletableFuture())
                    .failsWithin(Duration.ofSeconds(20))
                    .withThrowableThat()
                    .havingCause()
                    .isInstanceOfSatisfying(
                            StoreException.class, e -> assertThat(e.outcome()).isEqualTo(StoreException.Outcome.FATAL));
        }
        assertThat(a.inspect(name)).isEqualTo(StoreState.free(0));
    }

    @Test
    void aRepeatedAcquireTakesItsWeightOnce() {
        String holder = a.newId();
        Granted first = granted(a.take(name, holder, LONG, 3, CAPACITY));
        assertSame(granted(a.take(name, holder, LONG, 3, CAPACITY)), first);
        // The weight is that of the hold, whatever a later request says.
        assertSame(granted(a.take(name, holder, LONG, 1, CAPACITY)), first);
        assertThat(a.inspect(name).used()).isEqualTo(3);
        assertThat(a.release(name, holder)).isTrue();
        assertThat(a.release(name, holder)).isFalse();
        assertThat(a.inspect(name)).isEqualTo(StoreState.free(0));
        granted(a.take(name, a.newId(), LONG, CAPACITY, CAPACITY));
    }

    @Test
    void aReleaseOfAnUnknownIdTakesNoWeightOff() {
        granted(a.take(name, a.newId(), LONG, 3, CAPACITY));
        assertThat(b.release(name, b.newId())).isFalse();
        assertThat(b.abandon(name, b.newId())).isFalse();
        assertThat(a.inspect(name).used()).isEqualTo(3);
    }

    // --- the ends of holds ---

    @Test
    void oneOfSeveralHoldsRunsOut() {
        granted(a.take(name, a.newId(), LONG, 3, CAPACITY));
        String ends = b.newId();
        granted(b.take(name, ends, LONG, 2, CAPACITY));
        busy(c.take(name, c.newId(), LONG, 2, CAPACITY));
        expire(b, name, ends);

        assertThat(a.inspect(name).used()).isEqualTo(3);
        assertThat(a.inspect(name).held()).hasSize(1);
        granted(c.take(name, c.newId(), LONG, 2, CAPACITY));
        busy(c.take(name, c.newId(), LONG, 1, CAPACITY));
    }

    @Test
    void holdsThatRunOutLeaveNothing() {
        for (int i = 0; i < CAPACITY; i++) {
            granted(a.take(name, a.newId(), SHORT, 1, CAPACITY));
        }
        elapse(AFTER_SHORT);
        assertThat(a.inspect(name)).isEqualTo(StoreState.free(0));
        granted(a.take(name, a.newId(), LONG, CAPACITY, CAPACITY));
    }

    @Test
    void aReleaseAfterTheExpiryTakesNothingFromTheOthers() {
        String old = permit(a);
        String other = permit(b);
        expire(a, name, old);
        assertThat(a.release(name, old)).isFalse();
        assertThat(a.renew(name, old, LONG, 2_000)).isEqualTo(new Gone());
        assertThat(a.inspect(name).used()).isEqualTo(1);
        assertHolder(a, name, other);
    }

    @Test
    void renewalsOfManyHoldsAreIndependent() {
        String first = permit(a);
        String second = permit(a);
        String third = permit(a);
        assertThat(a.release(name, second)).isTrue();
        List<RenewReply> replies = a.renewAll(List.of(
                RenewRequest.extend(name, first, LONG.toMillis(), 0),
                RenewRequest.extend(name, second, LONG.toMillis(), 0),
                RenewRequest.look(name, third, 0),
                RenewRequest.extend(name + "-other", third, LONG.toMillis(), 0)));
        assertThat(replies.stream().map(this::apartFromLength).toList())
                .containsExactly(new Renewed(0), new Gone(), new Renewed(0), new Gone());
    }

    @Test
    void eachHoldIsRenewedByItself() {
        String kept = a.newId();
        granted(a.take(name, kept, MEDIUM, 2, CAPACITY));
        String ends = a.newId();
        granted(a.take(name, ends, LONG, 3, CAPACITY));
        assertThat(a.renew(name, kept, LONG, 0)).isInstanceOf(Renewed.class);
        expire(a, name, ends);
        assertThat(a.inspect(name).used()).isEqualTo(2);
        assertHolder(a, name, kept);
        assertRemaining(a, name, LONG);
    }

    @Test
    void aSettingShortensOneHoldAlone() {
        String cut = permit(a);
        String other = permit(a);
        assertThat(a.set(name, cut, SHORT, 1)).isInstanceOf(Renewed.class);
        elapse(AFTER_SHORT);
        assertThat(a.inspect(name).used()).isEqualTo(1);
        assertHolder(a, name, other);
        assertThat(a.renew(name, other, LONG, 0)).isInstanceOf(Renewed.class);
    }

    @Test
    void aForcedReleaseEndsAllHolds() {
        List<String> holders = List.of(permit(a), permit(b), permit(b));
        ForceReply reply = c.forceRelease(name, null);
        assertThat(reply)
                .isInstanceOfSatisfying(
                        ForceReply.Ended.class, ended -> assertThat(holders).contains(ended.holder()));
        assertThat(c.inspect(name)).isEqualTo(StoreState.free(0));
        if (sendsMessages()) {
            awaitForced(a, name, holders.get(0));
            awaitForced(b, name, holders.get(1));
            awaitForced(b, name, holders.get(2));
        }
        granted(c.take(name, c.newId(), LONG, CAPACITY, CAPACITY));
    }

    @Test
    void aForcedReleaseOfOneHolderLeavesTheOthers() {
        String first = permit(a);
        String second = permit(b);
        String third = permit(c);
        assertThat(a.forceRelease(name, second)).isEqualTo(new ForceReply.Ended(second));
        assertThat(a.inspect(name).held())
                .extracting(StoreState.Held::holderId)
                .containsExactlyInAnyOrder(first, third);
        assertThat(a.forceRelease(name, second)).isInstanceOf(ForceReply.HeldBy.class);
        assertThat(a.inspect(name).used()).isEqualTo(2);
        assertThat(b.renew(name, second, LONG, 0)).isEqualTo(new Gone());
    }

    // --- the order ---

    @QueueTest
    void theSmallDoesNotOvertakeTheLarge() {
        String first = a.newId();
        granted(a.take(name, first, LONG, 3, CAPACITY));
        String large = queued(b, 4, CAPACITY);
        // There is room for these two, and yet they are behind.
        busy(c.take(name, c.newId(), LONG, 1, CAPACITY));
        String small = queued(c, 1, CAPACITY);
        assertThat(a.inspect(name).used()).isEqualTo(3);

        a.release(name, first);
        awaitGranted(b, name, large);
        awaitGranted(c, name, small);
        assertThat(a.inspect(name).used()).isEqualTo(CAPACITY);
    }

    @QueueTest
    void aReleaseServesAllThatFit() {
        String all = a.newId();
        granted(a.take(name, all, LONG, CAPACITY, CAPACITY));
        String first = queued(b, 2, CAPACITY);
        String second = queued(b, 2, CAPACITY);
        String third = queued(c, 2, CAPACITY);
        String fourth = queued(c, 1, CAPACITY);

        a.release(name, all);
        awaitGranted(b, name, first);
        awaitGranted(b, name, second);
        awaitQuiet();
        // The third does not fit, so the fourth, which would, waits behind it.
        assertThat(c.listener.messages(Kind.GRANTED)).isEmpty();
        assertThat(a.inspect(name).used()).isEqualTo(4);
        assertThat(a.inspect(name).waiting()).isEqualTo(2);

        b.release(name, first);
        awaitGranted(c, name, third);
        awaitGranted(c, name, fourth);
        assertThat(a.inspect(name).used()).isEqualTo(CAPACITY);
    }

    @QueueTest
    void aWaiterThatLeavesServesThoseBehindIt() {
        granted(a.take(name, a.newId(), LONG, 3, CAPACITY));
        String large = queued(b, 4, CAPACITY);
        String first = queued(c, 1, CAPACITY);
        String second = queued(c, 1, CAPACITY);

        assertThat(b.abandon(name, large)).isFalse();
        awaitGranted(c, name, first);
        awaitGranted(c, name, second);
        assertThat(a.inspect(name).used()).isEqualTo(CAPACITY);
        // A waiter that was withdrawn has no weight to give back.
        assertThat(b.abandon(name, large)).isFalse();
        assertThat(a.inspect(name).used()).isEqualTo(CAPACITY);
    }

    @QueueTest
    void anAbandonedHoldServesTheQueue() {
        String first = a.newId();
        granted(a.take(name, first, LONG, 4, CAPACITY));
        String next = queued(b, 2, CAPACITY);
        assertThat(a.abandon(name, first)).isTrue();
        awaitGranted(b, name, next);
        assertThat(a.inspect(name).used()).isEqualTo(2);
    }

    @QueueTest
    void aForcedReleaseOfOneHolderServesTheQueue() {
        String first = a.newId();
        granted(a.take(name, first, LONG, 3, CAPACITY));
        permit(a);
        String next = queued(b, 4, CAPACITY);
        assertThat(c.forceRelease(name, first)).isEqualTo(new ForceReply.Ended(first));
        awaitGranted(b, name, next);
        assertThat(a.inspect(name).used()).isEqualTo(CAPACITY);
    }

    @QueueTest
    void anExpiredHoldServesTheQueueWhenAnybodyAsks() {
        granted(a.take(name, a.newId(), LONG, 2, CAPACITY));
        String ends = a.newId();
        granted(a.take(name, ends, LONG, 3, CAPACITY));
        String first = queued(b, 2, CAPACITY);
        String second = queued(b, 1, CAPACITY);
        String third = queued(b, 1, CAPACITY);
        expire(a, name, ends);

        busy(c.take(name, c.newId(), LONG, 1, CAPACITY));
        awaitGranted(b, name, first);
        awaitGranted(b, name, second);
        awaitQuiet();
        assertThat(b.listener.messages()).doesNotContain(new Message(Kind.GRANTED, name, third));
        assertThat(a.inspect(name).used()).isEqualTo(CAPACITY);
    }

    @QueueTest
    void whoAsksIsServedInItsTurnByTheReply() {
        assumeFalse(passesOnAtExpiry());
        String all = a.newId();
        granted(a.take(name, all, LONG, CAPACITY, CAPACITY));
        String first = queued(b, 2, CAPACITY);
        String second = queued(c, 2, CAPACITY);
        String third = queued(b, 1, CAPACITY);
        expire(a, name, all);

        // The one before the asker and the one behind it fit, too.
        assertThat(granted(c.queue(name, second, LONG, MEDIUM, 2, CAPACITY)).waiting())
                .isZero();
        awaitGranted(b, name, first);
        awaitGranted(b, name, third);
        assertThat(held(a.inspect(name), second).remainingMillis()).isGreaterThan(MEDIUM.toMillis());
        awaitQuiet();
        assertThat(c.listener.messages(Kind.GRANTED)).isEmpty();
    }

    @QueueTest
    void aDeadWaiterIsSkippedAndThoseBehindItAreServed() {
        String all = a.newId();
        granted(a.take(name, all, LONG, CAPACITY, CAPACITY));
        String dead = b.newId();
        busy(b.queue(name, dead, LONG, Duration.ofMillis(100), CAPACITY, CAPACITY));
        String first = queued(c, 1, CAPACITY);
        String second = queued(c, 4, CAPACITY);
        elapse(AFTER_SHORT);

        a.release(name, all);
        awaitGranted(c, name, first);
        awaitGranted(c, name, second);
        assertThat(b.listener.messages(Kind.GRANTED)).isEmpty();
    }

    @QueueTest
    void aDeadWaiterNoLongerBlocksWhenAnybodyAsks() {
        granted(a.take(name, a.newId(), LONG, 3, CAPACITY));
        String dies = queued(b, 4, CAPACITY);
        String behind = queued(c, 1, CAPACITY);
        // Its last poll: from now on it lives for 300 ms.
        busy(b.queue(name, dies, LONG, Duration.ofMillis(100), 4, CAPACITY));
        elapse(AFTER_SHORT);

        granted(a.take(name, a.newId(), LONG, 1, CAPACITY));
        awaitGranted(c, name, behind);
        assertThat(a.inspect(name).used()).isEqualTo(CAPACITY);
    }

    @QueueTest
    void whoReleasesAndQueuesAgainIsBehindTheOthersThatFit() {
        String all = a.newId();
        granted(a.take(name, all, LONG, CAPACITY, CAPACITY));
        String first = queued(b, 3, CAPACITY);
        String second = queued(c, 2, CAPACITY);

        String again = a.newId();
        AcquireRequest request = StoreClient.queueing(name, again, LONG, MEDIUM).weighing(1, CAPACITY);
        ReleaseReply reply = a.releaseAndQueue(name, all, request);
        assertThat(reply.wasHeld()).isTrue();
        assertThat(busy(reply.requeued()).ahead()).isZero();
        awaitGranted(b, name, first);
        awaitGranted(c, name, second);
        b.release(name, first);
        awaitGranted(a, name, again);
        assertThat(a.inspect(name).used()).isEqualTo(3);
    }

    @QueueTest
    void whoReleasesAndQueuesAgainWithRoomIsGrantedAtOnce() {
        String all = a.newId();
        granted(a.take(name, all, LONG, CAPACITY, CAPACITY));
        String first = queued(b, 3, CAPACITY);
        String again = a.newId();
        AcquireRequest request = StoreClient.queueing(name, again, LONG, MEDIUM).weighing(2, CAPACITY);
        assertThat(granted(a.releaseAndQueue(name, all, request).requeued()).waiting())
                .isZero();
        awaitGranted(b, name, first);
        assertThat(a.inspect(name).used()).isEqualTo(CAPACITY);
    }

    // --- two capacities at once ---

    @Test
    void aLoweredCapacityEvictsNobody() {
        List<String> holders = new ArrayList<>();
        for (int i = 0; i < CAPACITY; i++) {
            holders.add(permit(a));
        }
        busy(b.take(name, b.newId(), LONG, 1, 2));
        for (int i = 0; i < 3; i++) {
            assertThat(a.renew(name, holders.get(i), LONG, 0)).isInstanceOf(Renewed.class);
            assertThat(a.release(name, holders.get(i))).isTrue();
            busy(b.take(name, b.newId(), LONG, 1, 2));
        }
        assertThat(a.release(name, holders.get(3))).isTrue();
        granted(b.take(name, b.newId(), LONG, 1, 2));
    }

    @QueueTest
    void theLargerCapacityDoesNotOvertakeTheSmallerOne() {
        String first = permit(a);
        permit(a);
        String small = queued(b, 1, 2);
        busy(c.take(name, c.newId(), LONG, 1, CAPACITY));
        String large = queued(c, 1, CAPACITY);
        assertThat(a.inspect(name).used()).isEqualTo(2);

        a.release(name, first);
        awaitGranted(b, name, small);
        awaitGranted(c, name, large);
        assertThat(a.inspect(name).used()).isEqualTo(3);
    }

    @QueueTest
    void eachWaiterIsServedByItsOwnCapacity() {
        String first = a.newId();
        granted(a.take(name, first, LONG, CAPACITY, CAPACITY));
        String next = queued(b, 1, CAPACITY);
        String small = queued(c, 1, 1);
        // The asker's capacity is not the one that counts for the others.
        busy(a.queue(name, a.newId(), LONG, MEDIUM, 1, CAPACITY));
        a.release(name, first);
        awaitGranted(b, name, next);
        awaitQuiet();
        assertThat(c.listener.messages(Kind.GRANTED)).isEmpty();
        assertThat(a.inspect(name).used()).isEqualTo(1);

        b.release(name, next);
        awaitGranted(c, name, small);
    }

    // --- messages to holders that a client waits ---

    @QueueTest
    void holdersAreToldOfAWaiterThatNeedsAllOfThem() {
        String one = permit(a);
        String other = permit(b);
        queued(c, CAPACITY, CAPACITY);
        awaitMessage(a, new Message(Kind.CONTENDED, name, one));
        awaitMessage(b, new Message(Kind.CONTENDED, name, other));
        assertThat(c.listener.messages(Kind.CONTENDED)).isEmpty();
    }

    @QueueTest
    void onlyAHolderThatIsAloneIsToldOfASmallWaiter() {
        String all = a.newId();
        granted(a.take(name, all, LONG, CAPACITY, CAPACITY));
        String next = queued(b, 1, CAPACITY);
        awaitMessage(a, new Message(Kind.CONTENDED, name, all));
        assertThat(a.release(name, all)).isTrue();
        awaitGranted(b, name, next);

        granted(a.take(name, a.newId(), LONG, 4, CAPACITY));
        queued(c, 1, CAPACITY);
        awaitQuiet();
        assertThat(a.listener.messages(Kind.CONTENDED)).hasSize(1);
        assertThat(b.listener.messages(Kind.CONTENDED)).isEmpty();
    }

    // --- helpers ---

    /** Takes one permit of a pool with room. Returns the holder id. */
    private String permit(StoreClient client) {
        String holder = client.newId();
        granted(client.take(name, holder, LONG, 1, CAPACITY));
        return holder;
    }

    /** Takes a place in the queue, which lives long without polls. Returns the holder id. */
    private String queued(StoreClient client, int weight, int capacity) {
        String holder = client.newId();
        AcquireReply reply = client.queue(name, holder, LONG, MEDIUM, weight, capacity);
        busy(reply);
        return holder;
    }

    /** Asserts that two grants are of one hold. What they promise may differ. */
    private static void assertSame(Granted grant, Granted other) {
        assertThat(grant.base()).isEqualTo(other.base());
        assertThat(grant.waiting()).isEqualTo(other.waiting());
    }

    private static StoreState.Held held(StoreState state, String holder) {
        return state.held().stream()
                .filter(each -> each.holderId().equals(holder))
                .findFirst()
                .orElseThrow();
    }
}
