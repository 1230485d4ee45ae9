package io.holdfast.testkit.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.holdfast.spi.AcquireAllReply;
import io.holdfast.spi.AcquireReply.Granted;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.RenewReply.Renewed;
import io.holdfast.spi.StoreState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The part of the contract on taking several names by one command. Skipped if the store cannot. */
abstract class AcquireAllContract extends HandOffContract {

    /** The names of this test, in one slot of a cluster. */
    private final List<String> names = List.of("{" + name + "}1", "{" + name + "}2", "{" + name + "}3");

    @Test
    void freeNamesAreAllTaken() {
        assumeTakesTogether();
        List<AcquireRequest> requests = requests(a, LONG);
        List<Granted> granted = taken(a, requests);
        for (int i = 0; i < names.size(); i++) {
            assertHolder(a, names.get(i), requests.get(i).holderId());
            assertRemaining(a, names.get(i), LONG);
            assertThat(a.inspect(names.get(i)).base()).isEqualTo(granted.get(i).base());
            assertThat(granted.get(i).base()).isPositive().isLessThan(1L << 49);
            assertThat(granted.get(i).waiting()).isZero();
        }
        releaseAll(a, requests);
    }

    @Test
    void ofNamesOfWhichOneIsHeldNoneIsTaken() {
        for (String held : names) {
            assumeTakesTogether();
            String holder = hold(a, held);
            AcquireAllReply reply = ask(b, LONG);
            assertBusy(reply, held);
            for (String each : names) {
                if (each.equals(held)) {
                    assertHolder(a, each, holder);
                    assertThat(a.inspect(each).waiting()).isZero();
                } else {
                    assertThat(a.inspect(each)).isEqualTo(StoreState.free(0));
                }
            }
            assertThat(a.release(held, holder)).isTrue();
        }
    }

    @Test
    void theSameCommandAgainAnswersTheSameAndLengthens() {
        assumeTakesTogether();
        List<AcquireRequest> requests = requests(a, MEDIUM);
        List<Granted> first = taken(a, requests);
        List<AcquireRequest> longer = new ArrayList<>();
        requests.forEach(
                request -> longer.add(AcquireRequest.once(request.name(), request.holderId(), LONG.toMillis())));
        assertThat(taken(a, longer)).isEqualTo(first);
        for (String each : names) {
            assertRemaining(a, each, LONG);
        }
        assertThat(taken(a, requests)).isEqualTo(first);
        for (String each : names) {
            assertRemaining(a, each, LONG);
        }
        releaseAll(a, requests);
    }

    @Test
    void aRepetitionDoesNotUndoASettingThatCameAfterIt() {
        assumeTakesTogether();
        List<AcquireRequest> requests = requests(a, LONG);
        taken(a, requests);
        a.set(names.get(1), requests.get(1).holderId(), MEDIUM, 1);
        taken(a, requests);
        assertRemaining(a, names.get(1), MEDIUM);
        releaseAll(a, requests);
    }

    /** A late repetition takes all names again, or none; it never touches a later owner's hold. */
    @Test
    void aRepetitionAfterOneWasTakenByAnotherChangesNothing() {
        assumeTakesTogether();
        List<AcquireRequest> requests = requests(a, LONG);
        taken(a, requests);
        releaseAll(a, requests);
        String holder = hold(b, names.get(2));
        assertBusy(StoreClient.get(a.store().acquireAll(requests)), names.get(2));
        assertHolder(b, names.get(2), holder);
        assertFree(b, names.get(0));
        assertThat(b.release(names.get(2), holder)).isTrue();
    }

    @QueueTest
    void aNameThatOthersWaitForIsBusyAlsoWhenItIsFree() {
        assumeTakesTogether();
        String holder = hold(a, names.get(1));
        String waiting = queue(b, names.get(1));
        expire(a, names.get(1), holder);
        assertBusy(ask(a, LONG), names.get(1));
        granted(b.queue(names.get(1), waiting, LONG, MEDIUM));
        assertThat(b.release(names.get(1), waiting)).isTrue();
    }

    @QueueTest
    void aQueueOfTheDeadKeepsNobodyFromANameThatIsFree() {
        assumeTakesTogether();
        String holder = hold(a, names.get(1));
        queue(b, names.get(1), Duration.ofMillis(100));
        elapse(AFTER_SHORT);
        expire(a, names.get(1), holder);
        List<AcquireRequest> requests = requests(a, LONG);
        taken(a, requests);
        releaseAll(a, requests);
        assertFree(a, names.get(1));
    }

    @Test
    void eachHoldEndsByItselfAndTokensGrow() {
        assumeTakesTogether();
        List<Granted> first = taken(a, requests(a, SHORT));
        elapse(AFTER_SHORT);
        List<AcquireRequest> requests = requests(a, LONG);
        List<Granted> second = taken(a, requests);
        for (int i = 0; i < names.size(); i++) {
            assertThat(second.get(i).base()).isGreaterThan(first.get(i).base());
        }
        assertThat(a.renew(names.get(0), requests.get(0).holderId(), LONG, 0)).isInstanceOf(Renewed.class);
        releaseAll(a, requests);
        for (String each : names) {
            assertThat(granted(a.take(each, a.newId(), SHORT)).base())
                    .isGreaterThan(second.get(names.indexOf(each)).base());
        }
    }

    private void assumeTakesTogether() {
        assumeTrue(a.store().canAcquireAll(names), "takes names one by one");
    }

    private List<AcquireRequest> requests(StoreClient client, Duration lease) {
        List<AcquireRequest> requests = new ArrayList<>();
        names.forEach(each -> requests.add(AcquireRequest.once(each, client.newId(), lease.toMillis())));
        return requests;
    }

    private AcquireAllReply ask(StoreClient client, Duration lease) {
        return StoreClient.get(client.store().acquireAll(requests(client, lease)));
    }

    private static List<Granted> taken(StoreClient client, List<AcquireRequest> requests) {
        AcquireAllReply reply = StoreClient.get(client.store().acquireAll(requests));
        assertThat(reply.isTaken()).isTrue();
        assertThat(reply.granted()).hasSize(requests.size());
        return reply.granted();
    }

    private static void releaseAll(StoreClient client, List<AcquireRequest> requests) {
        requests.forEach(request ->
                assertThat(client.release(request.name(), request.holderId())).isTrue());
    }

    /** Does not check how long the hold lasts: not every store knows. */
    private static void assertBusy(AcquireAllReply reply, String name) {
        assertThat(reply.isTaken()).isFalse();
        assertThat(reply.busy()).isEqualTo(name);
    }
}
