package io.holdfast.verify.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.memory.VirtualTime;
import io.holdfast.spi.AcquireReply;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.ReleaseReply;
import io.holdfast.spi.ReleaseRequest;
import io.holdfast.spi.RenewRequest;
import java.time.Duration;
import java.util.SplittableRandom;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

/** Commands that continue in the store after the engine has learned that no answer came in time; one schedule each. */
class LateCommandsTest {

    private static final long TIMEOUT_MILLIS = 500;

    private final VirtualTime time = new VirtualTime();
    private final SimEnsemble ensemble = new SimEnsemble(
            time,
            new SplittableRandom(1),
            new SimEnsemble.Shape(3, 200, 2_000, 1_000_000, 500_000, 0, 0, 5_000_000_000L));
    private final LockStore store = connect("c1");

    @Test
    void a_release_and_requeue_that_goes_on_late_makes_no_second_node_for_an_id_that_was_asked_for_meanwhile() {
        assertThat(answer(store.acquire(request("c1:1")))).isInstanceOf(AcquireReply.Granted.class);
        CompletionStage<ReleaseReply> released = releaseThatHangs();
        CompletionStage<AcquireReply> asked = store.acquire(request("c1:2"));
        elapse(300);
        assertThat(released.toCompletableFuture()).isCompletedExceptionally();
        assertThat(asked.toCompletableFuture()).isCompleted();
        assertThat(ensemble.waiting("a")).startsWith("c1:2~").doesNotContain(",");
        assertThat(answer(store.abandon("a", "c1:2"))).isTrue();
        assertThat(ensemble.waiting("a")).isEmpty();
    }

    @Test
    void a_release_and_requeue_that_goes_on_late_makes_no_node_for_an_id_that_was_withdrawn_meanwhile() {
        assertThat(answer(store.acquire(request("c1:1")))).isInstanceOf(AcquireReply.Granted.class);
        CompletionStage<ReleaseReply> released = releaseThatHangs();
        CompletionStage<AcquireReply> asked = store.acquire(request("c1:2"));
        CompletionStage<Boolean> withdrawn = store.abandon("a", "c1:2");
        elapse(300);
        assertThat(released.toCompletableFuture()).isCompletedExceptionally();
        assertThat(asked.toCompletableFuture()).isCompleted();
        assertThat(withdrawn.toCompletableFuture()).isCompleted();
        elapse(5_000);
        assertThat(ensemble.waiting("a")).isEmpty();
    }

    /** The end of its lifetime hangs, so that its id is asked for again, behind that, and withdrawn behind both. */
    @Test
    void an_id_that_is_withdrawn_while_its_node_ends_leaves_none_of_the_next_node_either() {
        assertThat(answer(store.acquire(request("c1:1")))).isInstanceOf(AcquireReply.Granted.class);
        elapse(800);
        for (int server = 0; server < 3; server++) {
            ensemble.stop(server, Duration.ofMillis(400).toNanos());
        }
        elapse(200);
        CompletionStage<AcquireReply> asked = store.acquire(request("c1:1"));
        CompletionStage<Boolean> withdrawn = store.abandon("a", "c1:1");
        elapse(300);
        assertThat(asked.toCompletableFuture()).isCompletedWithValueMatching(AcquireReply.Granted.class::isInstance);
        assertThat(ensemble.waiting("a")).isEmpty();
        assertThat(withdrawn.toCompletableFuture()).isCompletedWithValue(true);
    }

    /** Behind a renewal that the servers do not answer; and past the time for an answer. */
    private CompletionStage<ReleaseReply> releaseThatHangs() {
        elapse(600);
        for (int server = 0; server < 3; server++) {
            ensemble.stop(server, Duration.ofMillis(TIMEOUT_MILLIS + 200).toNanos());
        }
        var unused = store.renew(RenewRequest.extend("a", "c1:1", 1_000, 0));
        CompletionStage<ReleaseReply> released = store.release(ReleaseRequest.requeueing("a", "c1:1", request("c1:2")));
        elapse(TIMEOUT_MILLIS + 20);
        return released;
    }

    private LockStore connect(String processId) {
        SimClient client = ensemble.connect(processId, time, Runnable::run, TIMEOUT_MILLIS, EnsembleBug.NONE);
        while (!client.isOpen()) {
            time.runNext();
        }
        return client.store();
    }

    private static AcquireRequest request(String holderId) {
        return AcquireRequest.queueing("a", holderId, 1_000, 1_000);
    }

    private <T> T answer(CompletionStage<T> stage) {
        elapse(100);
        return stage.toCompletableFuture().getNow(null);
    }

    private void elapse(long millis) {
        time.advance(Duration.ofMillis(millis));
    }
}
