package io.holdfast.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.spi.RenewReply;
import io.holdfast.spi.RenewReply.Gone;
import io.holdfast.spi.RenewReply.Renewed;
import io.holdfast.spi.RenewReply.Superseded;
import io.holdfast.spi.RenewRequest;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The part of the contract on renewals. */
abstract class RenewContract extends HoldContract {

    @Test
    void aRenewalLengthensTheHold() {
        String holder = a.newId();
        granted(a.take(name, holder, MEDIUM));

        assertThat(apartFromLength(a.renew(name, holder, LONG, 0))).isEqualTo(new Renewed(0));
        assertRemaining(a, name, LONG);
    }

    @Test
    void aRenewedHoldOutlivesItsFirstLease() {
        String holder = a.newId();
        granted(a.take(name, holder, Duration.ofSeconds(1)));
        assertThat(a.renew(name, holder, LONG, 0)).isInstanceOf(Renewed.class);

        elapse(Duration.ofMillis(1_200));
        busy(b.take(name, b.newId(), LONG));
        assertHolder(b, name, holder);
    }

    @Test
    void aRenewalNeverShortensTheHold() {
        String holder = hold(a, name);
        assertThat(a.renew(name, holder, SHORT, 0)).isInstanceOf(Renewed.class);
        assertRemaining(a, name, LONG);
    }

    @Test
    void aLookChangesNoLength() {
        String holder = a.newId();
        granted(a.take(name, holder, MEDIUM));
        assertThat(a.look(name, holder, 0)).isInstanceOf(Renewed.class);
        assertRemaining(a, name, MEDIUM);
        assertThat(a.set(name, holder, LONG, 1)).isInstanceOf(Renewed.class);
        assertThat(a.look(name, holder, 1)).isInstanceOf(Renewed.class);
        assertRemaining(a, name, LONG);
    }

    /** A lease of fixed length must be over by its end, even if little of it is left. */
    @Test
    void aHoldThatIsLookedAtEndsInTime() {
        String holder = hold(a, name);
        assertThat(a.set(name, holder, SHORT, 1)).isInstanceOf(Renewed.class);
        elapse(SHORT.dividedBy(2));
        a.look(name, holder, 1);
        elapse(AFTER_SHORT.minus(SHORT.dividedBy(2)));
        assertFree(a, name);
    }

    @Test
    void aLookFindsAHoldThatIsGone() {
        assertThat(a.look(name, a.newId(), 0)).isEqualTo(new Gone());
        assertFree(a, name);

        String old = hold(a, name);
        a.forceRelease(name);
        assertThat(a.look(name, old, 0)).isEqualTo(new Gone());
        assertFree(a, name);
        String holder = hold(b, name);
        assertThat(a.look(name, old, 0)).isEqualTo(new Gone());
        assertHolder(b, name, holder);
    }

    @Test
    void aRenewalOfANameThatNobodyHoldsDoesNotTakeIt() {
        assertThat(a.renew(name, a.newId(), LONG, 0)).isEqualTo(new Gone());
        assertThat(a.set(name, a.newId(), LONG, 1)).isEqualTo(new Gone());
        assertFree(a, name);
    }

    @Test
    void aRenewalAfterTheExpiryFindsTheHoldGone() {
        String holder = a.newId();
        granted(a.take(name, holder, SHORT));
        elapse(AFTER_SHORT);

        assertThat(a.renew(name, holder, LONG, 0)).isEqualTo(new Gone());
        assertFree(a, name);
    }

    @Test
    void aRenewalAfterATakeoverLeavesTheNewHoldAlone() {
        String old = hold(a, name);
        expire(a, name, old);
        String holder = b.newId();
        granted(b.take(name, holder, MEDIUM));

        assertThat(a.renew(name, old, LONG, 2_000)).isEqualTo(new Gone());
        assertThat(a.set(name, old, LONG, 2_001)).isEqualTo(new Gone());
        assertHolder(b, name, holder);
        assertRemaining(b, name, MEDIUM);
        assertThat(b.renew(name, holder, LONG, 0)).isInstanceOf(Renewed.class);
    }

    @Test
    void aRenewalAfterTheReleaseFindsTheHoldGone() {
        String holder = hold(a, name);
        a.release(name, holder);
        assertThat(a.renew(name, holder, LONG, 0)).isEqualTo(new Gone());
        assertFree(a, name);
    }

    @Test
    void aRenewalAfterAForcedReleaseFindsTheHoldGone() {
        String holder = hold(a, name);
        a.forceRelease(name);
        assertThat(a.renew(name, holder, LONG, 0)).isEqualTo(new Gone());
    }

    @Test
    void aSettingShortensTheHold() {
        String holder = a.newId();
        granted(a.take(name, holder, LONG));
        assertThat(apartFromLength(a.set(name, holder, MEDIUM, 1))).isEqualTo(new Renewed(0));
        assertRemaining(a, name, MEDIUM);
    }

    @Test
    void aShortenedHoldEndsWhenItWasToldTo() {
        String holder = hold(a, name);
        assertThat(a.set(name, holder, SHORT, 1)).isInstanceOf(Renewed.class);
        elapse(AFTER_SHORT);
        assertFree(a, name);
    }

    @Test
    void aSettingLengthensTheHold() {
        String holder = a.newId();
        granted(a.take(name, holder, MEDIUM));
        assertThat(a.set(name, holder, LONG, 1)).isInstanceOf(Renewed.class);
        assertRemaining(a, name, LONG);
    }

    @Test
    void aHoldCanBeSetAgain() {
        String holder = hold(a, name);
        assertThat(a.set(name, holder, MEDIUM, 1)).isInstanceOf(Renewed.class);
        assertThat(a.set(name, holder, LONG, 2)).isInstanceOf(Renewed.class);
        assertThat(a.set(name, holder, MEDIUM, 3)).isInstanceOf(Renewed.class);
        assertRemaining(a, name, MEDIUM);
    }

    @Test
    void aRenewalSentAfterTheSettingLengthens() {
        String holder = hold(a, name);
        a.set(name, holder, MEDIUM, 1);
        assertThat(a.renew(name, holder, LONG, 1)).isInstanceOf(Renewed.class);
        assertRemaining(a, name, LONG);
    }

    @Test
    void aLateRenewalDoesNotUndoASetting() {
        String holder = hold(a, name);
        a.set(name, holder, MEDIUM, 1);

        assertThat(a.renew(name, holder, LONG, 0)).isEqualTo(new Superseded());
        assertRemaining(a, name, MEDIUM);
    }

    @Test
    void aLateSettingDoesNotUndoTheNextOne() {
        String holder = hold(a, name);
        a.set(name, holder, LONG, 2);

        assertThat(a.set(name, holder, SHORT, 1)).isEqualTo(new Superseded());
        assertRemaining(a, name, LONG);
    }

    @Test
    void aLateRepetitionOfASettingDoesNotShortenWhatWasRenewedSince() {
        String holder = hold(a, name);
        a.set(name, holder, MEDIUM, 1);
        a.renew(name, holder, LONG, 1);

        a.set(name, holder, MEDIUM, 1);
        assertRemaining(a, name, LONG);
    }

    /** A renewal with the setting's number was sent after it, so its promise stands when the setting comes late. */
    @Test
    void aSettingThatComesLateDoesNotShortenWhatWasRenewedSince() {
        String holder = hold(a, name);
        assertThat(a.renew(name, holder, LONG, 1)).isInstanceOf(Renewed.class);

        a.set(name, holder, MEDIUM, 1);
        assertRemaining(a, name, LONG);
    }

    /** The client counts its deadline from the request of this reply: {@code Renewed} promises the whole length. */
    @Test
    void aRepeatedSettingPromisesNoTimeThatIsNotThere() {
        String holder = hold(a, name);
        a.set(name, holder, MEDIUM, 1);
        elapse(SHORT);

        RenewReply again = a.set(name, holder, MEDIUM, 1);
        long remaining = a.inspect(name).remainingMillis();
        if (again instanceof Renewed) {
            assertThat(remaining).isGreaterThan(MEDIUM.minus(SHORT).toMillis());
        } else {
            assertThat(again).isEqualTo(new Superseded());
        }
    }

    @Test
    void aLateAcquireDoesNotUndoASetting() {
        String holder = a.newId();
        var granted = granted(a.take(name, holder, LONG));
        a.set(name, holder, MEDIUM, 1);

        // The promised time does not matter: the setting was sent after the acquire, so the client does not rely on it.
        assertThat(granted(a.take(name, holder, LONG)).base()).isEqualTo(granted.base());
        assertRemaining(a, name, MEDIUM);
    }

    @Test
    void settingsOfAnEarlierHoldDoNotCountForTheNext() {
        String old = hold(a, name);
        a.set(name, old, LONG, 7);
        a.release(name, old);

        String holder = b.newId();
        granted(b.take(name, holder, MEDIUM));
        assertThat(b.renew(name, holder, LONG, 0)).isInstanceOf(Renewed.class);
        assertRemaining(b, name, LONG);
    }

    @Test
    void manyRenewalsAreAnsweredInTheirOrder() {
        String[] names = {name + ":0", name + ":1", name + ":2", name + ":3"};
        String[] holders = {a.newId(), a.newId(), b.newId(), a.newId()};
        granted(a.take(names[0], holders[0], MEDIUM));
        granted(b.take(names[2], holders[2], MEDIUM));
        granted(a.take(names[3], holders[3], MEDIUM));

        // The second name is free and the third another client's; some requests ask for the count of waiting clients.
        List<RenewRequest> requests = List.of(
                RenewRequest.extend(names[0], holders[0], LONG.toMillis(), 0).counted(false),
                RenewRequest.extend(names[1], holders[1], LONG.toMillis(), 0),
                RenewRequest.extend(names[2], a.newId(), LONG.toMillis(), 0).counted(false),
                RenewRequest.set(names[3], holders[3], LONG.toMillis(), 1));
        assertThat(a.renewAll(requests).stream().map(this::apartFromLength).toList())
                .containsExactly(new Renewed(0), new Gone(), new Gone(), new Renewed(0));
        assertRemaining(a, names[0], LONG);
        assertFree(a, names[1]);
        assertRemaining(b, names[2], MEDIUM);
        assertRemaining(a, names[3], LONG);
    }

    @Test
    void noRenewalsAreAnsweredByNothing() {
        assertThat(a.renewAll(List.of())).isEmpty();
    }
}
