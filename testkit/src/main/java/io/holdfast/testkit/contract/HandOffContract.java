package io.holdfast.testkit.contract;

import static io.holdfast.testkit.contract.StoreClient.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.holdfast.spi.AcquireReply.Busy;
import io.holdfast.spi.PushedGrant;
import io.holdfast.spi.ReleaseReply;
import io.holdfast.spi.RenewReply.Gone;
import io.holdfast.spi.StoreState;
import io.holdfast.testkit.contract.RecordingListener.Kind;
import io.holdfast.testkit.contract.RecordingListener.Message;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/**
 * The part of the contract on releasing and queueing again in one step, on free names with a queue, and on the messages
 * to holders about waiting clients.
 */
abstract class HandOffContract extends QueueContract {

    /** The largest: all of its bits must come back. */
    private static final long NONCE = (1L << 62) - 1;

    @QueueTest
    void whoReleasesAndQueuesAgainIsBehindTheOthers() {
        String holder = hold(a, name);
        String second = queue(b, name);
        String third = queue(c, name);

        String again = a.newId();
        ReleaseReply reply = a.releaseAndQueue(name, holder, StoreClient.queueing(name, again, LONG, MEDIUM));
        assertThat(reply.wasHeld()).isTrue();
        Busy busy = busy(reply.requeued());
        assertThat(busy.holder()).isEqualTo(second);
        assertThat(busy.ahead()).isEqualTo(1);
        awaitGranted(b, name, second);

        b.release(name, second);
        assertHolder(a, name, third);
        c.release(name, third);
        assertHolder(a, name, again);
        awaitGranted(a, name, again);
    }

    /** The engine hands out a lease because of this message alone, so it must never promise too much. */
    @QueueTest
    void aGrantThatSaysSinceWhenIsTrue() {
        assumeTrue(timesGrants());
        String holder = hold(a, name);
        String next = queue(b, name);
        elapse(Duration.ofMillis(50));
        long asked = time().nanoTime();
        busy(get(
                b.store().acquire(StoreClient.queueing(name, next, LONG, MEDIUM).withNonce(NONCE))));
        elapse(Duration.ofMillis(100));
        a.releaseAndQueue(name, holder, StoreClient.queueing(name, a.newId(), LONG, MEDIUM));
        long released = time().nanoTime();
        awaitGranted(b, name, next);

        PushedGrant grant = b.listener.grants().get(0);
        long lease = Math.min(LONG.toMillis(), 3 * MEDIUM.toMillis());
        assertThat(grant.name()).isEqualTo(name);
        assertThat(grant.holderId()).isEqualTo(next);
        assertThat(grant.nonce()).isEqualTo(NONCE);
        assertThat(grant.leaseMillis()).isEqualTo(lease);
        assertThat(grant.waiting()).isEqualTo(1);
        // Two roundings to whole milliseconds lie between the two clocks.
        assertThat(grant.sinceAskingMillis()).isBetween(99L, (released - asked) / 1_000_000 + 2);
        assertThat(grant.isOfOneClock(asked)).isTrue();
        assertThat(a.inspect(name).base()).isEqualTo(grant.base());
        assertThat(a.inspect(name).remainingMillis()).isBetween(1L, lease);
    }

    /** The receiver believes a grant only because of the nonce, so the store must not make one up. */
    @QueueTest
    void aGrantRepeatsTheNonceOfTheLastRequest() {
        assumeTrue(timesGrants());
        String holder = hold(a, name);
        String second = queue(b, name);
        String again = a.newId();
        busy(a.releaseAndQueue(
                        name,
                        holder,
                        StoreClient.queueing(name, again, LONG, MEDIUM).withNonce(NONCE - 1))
                .requeued());
        b.release(name, second);
        awaitGranted(a, name, again);
        assertThat(a.listener.grants())
                .singleElement()
                .satisfies(grant -> assertThat(grant.nonce()).isEqualTo(NONCE - 1));

        String third = b.newId();
        for (long nonce : new long[] {NONCE, 36, 1L << 61}) {
            busy(get(b.store()
                    .acquire(StoreClient.queueing(name, third, LONG, MEDIUM).withNonce(nonce))));
        }
        a.release(name, again);
        awaitGranted(b, name, third);
        assertThat(b.listener.grants())
                .filteredOn(grant -> grant.holderId().equals(third))
                .extracting(PushedGrant::nonce)
                .containsOnly(1L << 61);
    }

    @Test
    void whoReleasesAndQueuesAgainAloneIsGrantedAtOnce() {
        String holder = a.newId();
        long base = granted(a.take(name, holder, LONG)).base();

        String again = a.newId();
        ReleaseReply reply = a.releaseAndQueue(name, holder, StoreClient.queueing(name, again, LONG, MEDIUM));
        assertThat(reply.wasHeld()).isTrue();
        assertThat(granted(reply.requeued()).base()).isGreaterThan(base);
        assertThat(granted(reply.requeued()).waiting()).isZero();
        assertHolder(a, name, again);
        assertRemaining(a, name, LONG);
        assertThat(a.renew(name, holder, LONG, 0)).isEqualTo(new Gone());
    }

    @QueueTest
    void aQueueOfTheDeadCountsAsNobodyElseWaiting() {
        String holder = hold(a, name);
        queue(b, name, Duration.ofMillis(100));
        elapse(AFTER_SHORT);

        String again = a.newId();
        granted(a.releaseAndQueue(name, holder, StoreClient.queueing(name, again, LONG, MEDIUM))
                .requeued());
        assertThat(a.inspect(name).waiting()).isZero();
    }

    @QueueTest
    void releasingAndQueueingAgainTwiceQueuesOnce() {
        String holder = hold(a, name);
        String next = queue(b, name);

        String again = a.newId();
        var request = StoreClient.queueing(name, again, LONG, MEDIUM);
        busy(a.releaseAndQueue(name, holder, request).requeued());
        assertThat(a.releaseAndQueue(name, holder, request)).isEqualTo(ReleaseReply.notHeld());
        assertThat(a.inspect(name).waiting()).isEqualTo(1);

        b.release(name, next);
        a.release(name, again);
        assertThat(a.inspect(name)).isEqualTo(StoreState.free(0));
    }

    @QueueTest
    void aLateReleaseDoesNotQueueAnIdThatHasBeenServed() {
        String holder = hold(a, name);
        String next = queue(b, name);
        String again = a.newId();
        var request = StoreClient.queueing(name, again, LONG, MEDIUM);
        busy(a.releaseAndQueue(name, holder, request).requeued());
        b.release(name, next);
        a.release(name, again);

        assertThat(a.releaseAndQueue(name, holder, request)).isEqualTo(ReleaseReply.notHeld());
        assertThat(a.inspect(name)).isEqualTo(StoreState.free(0));
    }

    @Test
    void releasingAndQueueingAgainTwiceAloneLeavesTheNewHoldAlone() {
        String holder = hold(a, name);
        String again = a.newId();
        var request = StoreClient.queueing(name, again, LONG, MEDIUM);
        granted(a.releaseAndQueue(name, holder, request).requeued());

        assertThat(a.releaseAndQueue(name, holder, request)).isEqualTo(ReleaseReply.notHeld());
        assertHolder(a, name, again);
    }

    @Test
    void whoDoesNotHoldIsNotQueuedAgain() {
        String holder = hold(a, name);
        var request = StoreClient.queueing(name, b.newId(), LONG, MEDIUM);

        assertThat(b.releaseAndQueue(name, b.newId(), request)).isEqualTo(ReleaseReply.notHeld());
        assertHolder(a, name, holder);
        assertThat(a.inspect(name).waiting()).isZero();
    }

    @Test
    void whoDoesNotHoldAFreeNameIsNotGrantedItByQueueingAgain() {
        String holder = hold(a, name);
        expire(a, name, holder);
        var request = StoreClient.queueing(name, a.newId(), LONG, MEDIUM);

        assertThat(a.releaseAndQueue(name, holder, request)).isEqualTo(ReleaseReply.notHeld());
        assertThat(a.inspect(name)).isEqualTo(StoreState.free(0));
    }

    @QueueTest
    void aFreeNameGoesToTheHeadOfItsQueueWhoeverAsks() {
        String holder = hold(a, name);
        String head = queue(b, name);
        expire(a, name, holder);

        assertThat(busy(c.take(name, c.newId(), LONG)).holder()).isEqualTo(head);
        awaitGranted(b, name, head);
        assertThat(b.renew(name, head, LONG, 0)).isNotEqualTo(new Gone());
    }

    @QueueTest
    void aFreeNameGoesToTheHeadWhenSomebodyJoinsBehindIt() {
        String holder = hold(a, name);
        String head = queue(b, name);
        expire(a, name, holder);

        Busy busy = busy(c.queue(name, c.newId(), LONG, MEDIUM));
        assertThat(busy.holder()).isEqualTo(head);
        assertThat(busy.ahead()).isZero();
        awaitGranted(b, name, head);
        assertThat(a.inspect(name).waiting()).isEqualTo(1);
    }

    @QueueTest
    void aFreeNameGoesToTheHeadWhenSomebodyBehindItPolls() {
        String holder = hold(a, name);
        String head = queue(b, name);
        String behind = queue(c, name);
        expire(a, name, holder);

        Busy busy = busy(c.queue(name, behind, LONG, MEDIUM));
        assertThat(busy.holder()).isEqualTo(head);
        assertThat(busy.ahead()).isZero();
        awaitGranted(b, name, head);
    }

    @QueueTest
    void aFreeNameGoesToTheHeadThatAsksByTheReplyForTheFullLease() {
        assumeFalse(passesOnAtExpiry());
        String holder = hold(a, name);
        String head = queue(b, name);
        queue(a, name);
        expire(a, name, holder);

        assertThat(granted(b.queue(name, head, LONG, MEDIUM)).waiting()).isEqualTo(1);
        assertRemaining(b, name, LONG);
        awaitQuiet();
        assertThat(b.listener.messages(Kind.GRANTED)).isEmpty();
    }

    @QueueTest
    void anExpiredNameWithAQueueIsShownFree() {
        assumeFalse(passesOnAtExpiry());
        String holder = hold(a, name);
        queue(b, name);
        expire(a, name, holder);
        assertThat(a.inspect(name)).isEqualTo(StoreState.free(1));
    }

    @QueueTest
    void aLateReleaseOfAnExpiredHoldTakesNothingFromTheQueue() {
        String holder = hold(a, name);
        String head = queue(b, name);
        expire(a, name, holder);

        assertThat(a.release(name, holder)).isFalse();
        assertThat(busy(a.take(name, a.newId(), LONG)).holder()).isEqualTo(head);
    }

    @QueueTest
    void queuesOfTwoNamesAreIndependent() {
        String other = name + ":other";
        String holder = hold(a, name);
        String otherHolder = hold(a, other);
        String next = queue(b, name);
        String otherNext = queue(b, other);

        a.release(other, otherHolder);
        awaitGranted(b, other, otherNext);
        assertHolder(a, name, holder);
        assertThat(a.inspect(name).waiting()).isEqualTo(1);
        a.release(name, holder);
        awaitGranted(b, name, next);
    }

    @QueueTest
    void theHolderLearnsWhenSomebodyBeginsToWaitAndOnlyThen() {
        String holder = hold(a, name);
        busy(c.take(name, c.newId(), LONG));
        String first = queue(b, name);
        awaitMessage(a, new Message(Kind.CONTENDED, name, holder));

        busy(b.queue(name, first, LONG, MEDIUM));
        String second = queue(c, name);
        awaitQuiet();
        assertThat(a.listener.messages(Kind.CONTENDED)).hasSize(1);

        b.abandon(name, first);
        c.abandon(name, second);
        queue(b, name);
        awaitMessages(a, Kind.CONTENDED, 2);
        assertThat(b.listener.messages(Kind.CONTENDED)).isEmpty();
        assertThat(c.listener.messages(Kind.CONTENDED)).isEmpty();
    }

    @QueueTest
    void aHolderThatCameFromTheQueueLearnsToo() {
        String holder = hold(a, name);
        String next = queue(b, name);
        a.release(name, holder);
        queue(a, name);
        awaitMessage(b, new Message(Kind.CONTENDED, name, next));
    }

    @QueueTest
    void whoBeginsToWaitBehindTheDeadBeginsToWait() {
        hold(a, name);
        queue(b, name, Duration.ofMillis(100));
        elapse(AFTER_SHORT);
        queue(b, name);
        awaitMessages(a, Kind.CONTENDED, 2);
    }
}
