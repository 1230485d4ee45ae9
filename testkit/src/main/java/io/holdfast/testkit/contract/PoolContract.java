package io.holdfast.testkit.contract;

import static io.holdfast.testkit.contract.StoreClient.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.holdfast.spi.AcquireReply.Busy;
import io.holdfast.spi.AcquireReply.Granted;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.ForceReply;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.ReleaseRequest;
import io.holdfast.spi.RenewReply;
import io.holdfast.spi.RenewReply.Gone;
import io.holdfast.spi.RenewReply.Renewed;
import io.holdfast.spi.RenewRequest;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.StoreState;
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
public abstract class PoolContract extends PoolQueueContract {

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

    // --- helpers ---

    /** Asserts that two grants are of one hold. What they promise may differ. */
    private static void assertSame(Granted grant, Granted other) {
        assertThat(grant.base()).isEqualTo(other.base());
        assertThat(grant.waiting()).isEqualTo(other.waiting());
    }
}
