package io.holdfast.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.spi.AcquireReply.Busy;
import io.holdfast.spi.RenewReply.Gone;
import io.holdfast.spi.RenewReply.Renewed;
import io.holdfast.spi.StoreState;
import io.holdfast.testkit.contract.RecordingListener.Kind;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** The part of the contract on waiting in the store's queue and on grants from it. */
abstract class QueueContract extends RenewContract {

    /** An entry with this poll lives for 1.2 s without one: enough time to release, and short enough to wait for. */
    static final Duration BRIEF_POLL = Duration.ofMillis(400);

    static final Duration AFTER_BRIEF = Duration.ofMillis(1_300);

    @Test
    void askingForAPlaceInTheQueueOfAFreeNameIsGrantedAtOnce() {
        var granted = granted(a.queue(name, a.newId(), LONG, MEDIUM));
        assertThat(granted.waiting()).isZero();
        assertRemaining(a, name, LONG);
    }

    @Test
    void askingForAPlaceInTheQueueOfAHeldNameIsBusy() {
        String holder = hold(a, name);
        Busy busy = busy(b.queue(name, b.newId(), LONG, MEDIUM));
        assertThat(busy.ahead()).isZero();
        assertThat(busy.holder()).isEqualTo(holder);
        assertHolder(b, name, holder);
    }

    @QueueTest
    void releasesServeTheQueueInOrderAndTellOnlyTheNext() {
        StoreClient[] clients = {a, b, c, client()};
        String[] ids = new String[4];
        ids[0] = hold(clients[0], name);
        for (int i = 1; i < 4; i++) {
            ids[i] = clients[i].newId();
            assertThat(busy(clients[i].queue(name, ids[i], LONG, MEDIUM)).ahead())
                    .isEqualTo(i - 1);
        }

        for (int i = 1; i < 4; i++) {
            assertThat(clients[i - 1].release(name, ids[i - 1])).isTrue();
            assertHolder(clients[0], name, ids[i]);
            awaitGranted(clients[i], name, ids[i]);
        }
        awaitQuiet();
        for (int i = 0; i < 4; i++) {
            assertThat(clients[i].listener.messages(Kind.GRANTED)).hasSize(i == 0 ? 0 : 1);
        }
    }

    @QueueTest
    void theQueueCanBeSeen() {
        String holder = a.newId();
        granted(a.take(name, holder, LONG));
        queue(b, name);
        queue(c, name);

        assertThat(a.inspect(name).waiting()).isEqualTo(2);
        assertThat(apartFromLength(a.renew(name, holder, LONG, 0))).isEqualTo(new Renewed(2));
        assertThat(granted(a.take(name, holder, LONG)).waiting()).isEqualTo(2);
        assertThat(busy(b.take(name, b.newId(), LONG)).holder()).isEqualTo(holder);
    }

    @QueueTest
    void aPushedGrantHasAShortLease() {
        String holder = hold(a, name);
        String next = queue(b, name, Duration.ofSeconds(6));
        a.release(name, holder);

        assertHolder(a, name, next);
        awaitGranted(b, name, next);
        assertThat(b.inspect(name).remainingMillis()).isPositive().isLessThanOrEqualTo(18_000);
    }

    @QueueTest
    void aPushedGrantIsNoLongerThanItsLease() {
        String holder = hold(a, name);
        String next = b.newId();
        busy(b.queue(name, next, Duration.ofSeconds(15), MEDIUM));
        a.release(name, holder);

        assertHolder(a, name, next);
        awaitGranted(b, name, next);
        assertThat(b.inspect(name).remainingMillis()).isPositive().isLessThanOrEqualTo(15_000);
    }

    @QueueTest
    void aPushedGrantHasALargerBase() {
        String holder = a.newId();
        long first = granted(a.take(name, holder, LONG)).base();
        queue(b, name);
        a.release(name, holder);
        assertThat(a.inspect(name).base()).isGreaterThan(first);
    }

    @QueueTest
    void aRenewalConfirmsAPushedGrant() {
        String holder = hold(a, name);
        String next = queue(b, name, Duration.ofSeconds(5));
        a.release(name, holder);

        a.inspect(name);
        assertThat(apartFromLength(b.renew(name, next, LONG, 0))).isEqualTo(new Renewed(0));
        assertRemaining(b, name, LONG);
    }

    @QueueTest
    void aPollConfirmsAPushedGrant() {
        String holder = hold(a, name);
        String next = queue(b, name, Duration.ofSeconds(5));
        a.release(name, holder);

        long base = a.inspect(name).base();
        assertThat(granted(b.queue(name, next, LONG, Duration.ofSeconds(5))).base())
                .isEqualTo(base);
        assertRemaining(b, name, LONG);
        assertThat(b.inspect(name).waiting()).isZero();
    }

    @QueueTest
    void aGrantThatNobodyConfirmsGoesToTheNextWhenAnyoneAsks() {
        String holder = hold(a, name);
        String absent = queue(b, name, BRIEF_POLL);
        String next = queue(c, name);
        a.release(name, holder);
        assertHolder(a, name, absent);
        elapse(AFTER_BRIEF);

        assertThat(busy(a.take(name, a.newId(), LONG)).holder()).isEqualTo(next);
        awaitGranted(c, name, next);
        assertThat(b.renew(name, absent, LONG, 0)).isEqualTo(new Gone());
        assertThat(c.renew(name, next, LONG, 0)).isInstanceOf(Renewed.class);
    }

    @QueueTest
    void aPollKeepsThePlace() {
        String holder = hold(a, name);
        String first = queue(b, name);
        String second = queue(c, name);

        assertThat(busy(c.queue(name, second, LONG, MEDIUM)).ahead()).isEqualTo(1);
        assertThat(busy(b.queue(name, first, LONG, MEDIUM)).ahead()).isZero();
        assertThat(a.inspect(name).waiting()).isEqualTo(2);
        a.release(name, holder);
        assertHolder(a, name, first);
    }

    @QueueTest
    void pollsKeepAnEntryAlive() {
        String holder = hold(a, name);
        String first = b.newId();
        // Lives for 1.8 s without a poll: less than the whole test, and much more than the time between two polls.
        Duration poll = Duration.ofMillis(600);
        busy(b.queue(name, first, LONG, poll));
        queue(c, name);
        for (int i = 0; i < 3; i++) {
            elapse(Duration.ofMillis(650));
            busy(b.queue(name, first, LONG, poll));
        }
        a.release(name, holder);
        assertHolder(a, name, first);
    }

    @QueueTest
    void anEntryThatMissedThreePollsIsSkipped() {
        String holder = hold(a, name);
        queue(b, name, Duration.ofMillis(100));
        String next = queue(c, name);
        elapse(AFTER_SHORT);

        a.release(name, holder);
        assertHolder(a, name, next);
        awaitGranted(c, name, next);
        assertThat(b.listener.messages(Kind.GRANTED)).isEmpty();
    }

    @QueueTest
    void entriesThatMissedThreePollsDoNotCount() {
        hold(a, name);
        queue(b, name, Duration.ofMillis(100));
        elapse(AFTER_SHORT);

        assertThat(busy(c.take(name, c.newId(), LONG)).ahead()).isZero();
        assertThat(a.inspect(name).waiting()).isZero();
        assertThat(busy(c.queue(name, c.newId(), LONG, MEDIUM)).ahead()).isZero();
        assertThat(a.inspect(name).waiting()).isEqualTo(1);
    }

    @QueueTest
    void aQueueOfTheDeadLeavesTheNameFree() {
        String holder = hold(a, name);
        queue(b, name, Duration.ofMillis(100));
        elapse(AFTER_SHORT);

        a.release(name, holder);
        assertThat(a.inspect(name)).isEqualTo(StoreState.free(0));
        granted(a.take(name, a.newId(), LONG));
    }

    @QueueTest
    void aWaiterWhoseClientHasGoneHoldsUpTheQueueForAShortLeaseAtMost() {
        String holder = hold(a, name);
        queue(b, name, BRIEF_POLL);
        String next = queue(c, name);
        b.close();

        a.release(name, holder);
        elapse(AFTER_BRIEF);
        assertThat(busy(a.take(name, a.newId(), LONG)).holder()).isEqualTo(next);
    }

    @QueueTest
    void aWithdrawnEntryIsSkipped() {
        String holder = hold(a, name);
        String withdrawn = queue(b, name);
        String next = queue(c, name);

        assertThat(b.abandon(name, withdrawn)).isFalse();
        assertThat(a.inspect(name).waiting()).isEqualTo(1);
        assertHolder(a, name, holder);
        a.release(name, holder);
        assertHolder(a, name, next);
    }

    @QueueTest
    void anAbandonedGrantIsPassedOn() {
        String holder = hold(a, name);
        String granted = queue(b, name);
        String next = queue(c, name);
        a.release(name, holder);

        assertThat(b.abandon(name, granted)).isTrue();
        assertHolder(a, name, next);
        awaitGranted(c, name, next);
    }

    @QueueTest
    void anAbandonedHoldIsPassedOn() {
        String holder = hold(a, name);
        String next = queue(b, name);
        assertThat(a.abandon(name, holder)).isTrue();
        assertHolder(a, name, next);
        awaitGranted(b, name, next);
    }

    @QueueTest
    void theQueueOutlivesAForcedRelease() {
        String holder = hold(a, name);
        String next = queue(b, name);
        assertThat(c.forceRelease(name)).isTrue();

        assertThat(busy(c.take(name, c.newId(), LONG)).holder()).isEqualTo(next);
        awaitGranted(b, name, next);
        assertThat(a.renew(name, holder, LONG, 0)).isEqualTo(new Gone());
    }
}
