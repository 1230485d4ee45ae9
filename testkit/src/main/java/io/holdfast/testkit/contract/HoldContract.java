package io.holdfast.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.holdfast.spi.AcquireReply.Busy;
import io.holdfast.spi.ForceReply;
import io.holdfast.spi.StoreState;
import org.junit.jupiter.api.Test;

/** The part of the contract on taking and ending holds. */
abstract class HoldContract extends StoreHarness {

    @Test
    void aFreeNameIsGranted() {
        var granted = granted(a.take(name, a.newId(), LONG));
        assertThat(granted.base()).isPositive().isLessThan(1L << 49);
        assertThat(granted.waiting()).isZero();
    }

    @Test
    void aHeldNameIsBusyAndShowsItsHolder() {
        String holder = hold(a, name);

        Busy busy = busy(b.take(name, b.newId(), LONG));
        assertThat(busy.remainingMillis()).isGreaterThan(MEDIUM.toMillis()).isLessThanOrEqualTo(LONG.toMillis());
        assertThat(busy.ahead()).isZero();
        assertThat(busy.holder()).isEqualTo(holder);
    }

    @Test
    void aNameHeldByTheSameClientUnderAnotherIdIsBusy() {
        String holder = hold(a, name);
        assertThat(busy(a.take(name, a.newId(), LONG)).holder()).isEqualTo(holder);
    }

    @Test
    void aRepeatedAcquireAnswersTheBaseOfTheHold() {
        String holder = a.newId();
        var first = granted(a.take(name, holder, LONG));
        assertThat(granted(a.take(name, holder, LONG))).isEqualTo(first);
    }

    @Test
    void aRepeatedAcquireDoesNotCountTwice() {
        String holder = hold(a, name);
        granted(a.take(name, holder, LONG));

        assertThat(a.release(name, holder)).isTrue();
        assertFree(a, name);
    }

    @Test
    void aRepeatedAcquireLengthensTheHold() {
        String holder = a.newId();
        granted(a.take(name, holder, MEDIUM));
        granted(a.take(name, holder, LONG));
        assertRemaining(a, name, LONG);
    }

    @Test
    void aRepeatedAcquireNeverShortensTheHold() {
        String holder = hold(a, name);
        granted(a.take(name, holder, SHORT));
        assertRemaining(a, name, LONG);
    }

    @Test
    void aHoldEndsWithItsLease() {
        granted(a.take(name, a.newId(), SHORT));
        elapse(AFTER_SHORT);

        assertThat(b.inspect(name)).isEqualTo(StoreState.free(0));
        granted(b.take(name, b.newId(), LONG));
    }

    @Test
    void aReleasedNameIsFree() {
        String holder = hold(a, name);
        assertThat(a.release(name, holder)).isTrue();

        assertThat(b.inspect(name)).isEqualTo(StoreState.free(0));
        granted(b.take(name, b.newId(), LONG));
    }

    @Test
    void aSecondReleaseFindsNothing() {
        String holder = hold(a, name);
        assertThat(a.release(name, holder)).isTrue();
        assertThat(a.release(name, holder)).isFalse();
    }

    @Test
    void aReleaseByAnotherIdLeavesTheHoldAlone() {
        String holder = hold(a, name);

        assertThat(b.release(name, b.newId())).isFalse();
        assertThat(a.release(name, a.newId())).isFalse();
        assertHolder(b, name, holder);
        assertRemaining(a, name, LONG);
    }

    @Test
    void aReleaseAfterTheExpiryFindsNothing() {
        String holder = hold(a, name);
        expire(a, name, holder);
        assertThat(a.release(name, holder)).isFalse();
    }

    @Test
    void aReleaseAfterATakeoverLeavesTheNewHoldAlone() {
        String old = hold(a, name);
        expire(a, name, old);
        String holder = hold(b, name);

        assertThat(a.release(name, old)).isFalse();
        assertHolder(a, name, holder);
    }

    @Test
    void anAttemptWithoutAQueueLeavesNothingBehind() {
        String holder = hold(a, name);
        busy(b.take(name, b.newId(), LONG));
        assertThat(a.inspect(name).waiting()).isZero();

        a.release(name, holder);
        awaitQuiet();
        assertFree(a, name);
        assertThat(b.listener.messages(RecordingListener.Kind.GRANTED)).isEmpty();
    }

    @Test
    void anAbandonedHoldIsReleased() {
        String holder = hold(a, name);
        assertThat(a.abandon(name, holder)).isTrue();
        assertFree(a, name);
        assertThat(a.abandon(name, holder)).isFalse();
    }

    @Test
    void abandoningAnUnknownIdChangesNothing() {
        assertThat(b.abandon(name, b.newId())).isFalse();

        String holder = hold(a, name);
        assertThat(b.abandon(name, b.newId())).isFalse();
        assertHolder(a, name, holder);
    }

    @Test
    void aForcedReleaseEndsAnybodysHold() {
        String holder = hold(a, name);
        assertThat(b.forceRelease(name)).isTrue();

        assertFree(a, name);
        assertThat(a.release(name, holder)).isFalse();
        granted(b.take(name, b.newId(), LONG));
    }

    @Test
    void aForcedReleaseOfAFreeNameFindsNothing() {
        assertThat(a.forceRelease(name, null)).isEqualTo(new ForceReply.Free());
        assertThat(a.forceRelease(name, a.newId())).isEqualTo(new ForceReply.Free());
    }

    @Test
    void aForcedReleaseSaysWhoseHoldItEnded() {
        String holder = hold(a, name);
        assertThat(b.forceRelease(name, null)).isEqualTo(new ForceReply.Ended(holder));

        String next = hold(b, name);
        assertThat(a.forceRelease(name, next)).isEqualTo(new ForceReply.Ended(next));
        assertFree(a, name);
    }

    /** By a message, or because the store watches the hold. */
    @Test
    void aHolderIsToldOfAForcedRelease() {
        assumeTrue(sendsMessages());
        String holder = hold(a, name);
        b.forceRelease(name, holder);
        awaitForced(a, name, holder);

        String next = hold(b, name);
        a.forceRelease(name, null);
        awaitForced(b, name, next);
        awaitQuiet();
        assertThat(a.listener.messages(RecordingListener.Kind.FORCED)).hasSizeLessThan(6);
    }

    @Test
    void aHolderIsNotToldOfAForcedReleaseOfAnother() {
        String earlier = hold(a, name);
        a.release(name, earlier);
        hold(a, name);
        b.forceRelease(name, earlier);
        awaitQuiet();
        assertThat(a.listener.messages(RecordingListener.Kind.FORCED)).isEmpty();
        assertThat(a.listener.messages(RecordingListener.Kind.LOST)).isEmpty();
    }

    /** After a renewal, a store may know the hold under another text than the id. */
    @Test
    void aForcedReleaseKnowsAHoldWhoseLengthWasSet() {
        String holder = hold(a, name);
        a.set(name, holder, LONG, 1);
        a.set(name, holder, LONG, 2);
        assertThat(b.forceRelease(name, b.inspect(name).holder())).isEqualTo(new ForceReply.Ended(holder));
        assertFree(a, name);
    }

    @Test
    void aForcedReleaseAgainstAnEarlierHolderLeavesTheHoldAlone() {
        String earlier = hold(a, name);
        a.release(name, earlier);
        String holder = hold(a, name);

        assertThat(b.forceRelease(name, earlier)).isEqualTo(new ForceReply.HeldBy(holder));
        assertThat(b.forceRelease(name, holder + "0")).isEqualTo(new ForceReply.HeldBy(holder));
        assertThat(b.forceRelease(name, holder.substring(0, holder.length() - 1)))
                .isEqualTo(new ForceReply.HeldBy(holder));
        assertThat(b.forceRelease(name, "")).isEqualTo(new ForceReply.HeldBy(holder));
        assertHolder(b, name, holder);
        assertRemaining(a, name, LONG);
    }

    @Test
    void anUnknownNameIsFree() {
        assertThat(a.inspect(name)).isEqualTo(StoreState.free(0));
    }

    @Test
    void aHeldNameShowsItsHold() {
        String holder = a.newId();
        long base = granted(a.take(name, holder, LONG)).base();

        StoreState state = b.inspect(name);
        assertThat(state.holder()).isEqualTo(holder);
        assertThat(state.base()).isEqualTo(showsBases() ? base : 0);
        assertThat(state.waiting()).isZero();
        assertRemaining(a, name, LONG);
    }

    @Test
    void looksChangeNothing() {
        String holder = a.newId();
        granted(a.take(name, holder, SHORT));
        a.inspect(name);
        elapse(AFTER_SHORT);
        assertFree(a, name);
    }

    @Test
    void basesGrowAcrossEveryEndOfAHold() {
        long last = 0;
        for (int i = 0; i < 12; i++) {
            StoreClient client = i % 3 == 0 ? a : b;
            String holder = client.newId();
            long base = granted(client.take(name, holder, LONG)).base();
            assertThat(base).isGreaterThan(last);
            last = base;
            switch (i % 4) {
                case 0 -> client.release(name, holder);
                case 1 -> client.abandon(name, holder);
                case 2 -> client.forceRelease(name);
                default -> expire(client, name, holder);
            }
        }
    }

    @Test
    void namesAreIndependent() {
        String other = name + ":other";
        String holder = hold(a, name);
        String otherHolder = hold(b, other);

        assertThat(a.release(name, otherHolder)).isFalse();
        assertThat(a.release(name, holder)).isTrue();
        assertFree(a, name);
        assertHolder(a, other, otherHolder);
    }

    @Test
    void aStoreSaysWhatItIsAndClosesTwice() {
        assertThat(a.store().describe()).isNotBlank();
        a.close();
        a.close();
    }
}
