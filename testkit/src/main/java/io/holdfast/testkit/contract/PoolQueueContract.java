package io.holdfast.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.holdfast.spi.AcquireReply;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.ForceReply;
import io.holdfast.spi.ReleaseReply;
import io.holdfast.spi.StoreState;
import io.holdfast.testkit.contract.RecordingListener.Kind;
import io.holdfast.testkit.contract.RecordingListener.Message;
import java.time.Duration;

/** The part of the contract of pools on the queue: the order of waiters, and the messages to holders. */
abstract class PoolQueueContract extends ReadWriteContract {

    static final int CAPACITY = 5;

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
    final String permit(StoreClient client) {
        String holder = client.newId();
        granted(client.take(name, holder, LONG, 1, CAPACITY));
        return holder;
    }

    /** Takes a place in the queue, which lives long without polls. Returns the holder id. */
    final String queued(StoreClient client, int weight, int capacity) {
        String holder = client.newId();
        AcquireReply reply = client.queue(name, holder, LONG, MEDIUM, weight, capacity);
        busy(reply);
        return holder;
    }

    static StoreState.Held held(StoreState state, String holder) {
        return state.held().stream()
                .filter(each -> each.holderId().equals(holder))
                .findFirst()
                .orElseThrow();
    }
}
