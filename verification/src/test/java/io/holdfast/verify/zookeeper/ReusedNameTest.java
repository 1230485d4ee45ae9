package io.holdfast.verify.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.memory.VirtualTime;
import io.holdfast.spi.AcquireReply;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.ReleaseReply;
import io.holdfast.spi.ReleaseRequest;
import io.holdfast.testkit.contract.RecordingListener;
import io.holdfast.testkit.contract.RecordingListener.Kind;
import java.time.Duration;
import java.util.SplittableRandom;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

/**
 * A node of the same name as one before: the servers remove a lock's empty folder, and in the next one they number from
 * zero again, for the same holder id in the same session, too.
 */
class ReusedNameTest {

    private static final long CUT_MILLIS = 100;

    private final VirtualTime time = new VirtualTime();
    private final SimEnsemble ensemble = new SimEnsemble(
            time, new SplittableRandom(1), new SimEnsemble.Shape(3, 200, 2_000, 1_000_000, 500_000, 0, 0, 5_000_000L));
    private final SimClient client = connect();
    private final LockStore store = client.store();
    private final RecordingListener told = new RecordingListener();

    /**
     * Seed 995: a holder's look was under way when its node was deleted by force and the folder was removed. Its answer
     * came when there was the next node of that name, and was taken for that one's end: nobody knew of that node any
     * more, and it kept the lock for as long as the session.
     */
    @Test
    void the_end_of_a_node_is_not_taken_for_the_end_of_the_next_one_of_that_name() {
        store.listen(told);
        assertThat(answer(store.acquire(request()))).isInstanceOf(AcquireReply.Granted.class);
        String node = ensemble.waiting("a");
        ensemble.cutOff(client, Duration.ofMillis(CUT_MILLIS).toNanos());
        assertThat(ensemble.deleteFirst("a")).isTrue();
        elapse(20);
        // By now the holder has asked whether anybody waits, and there is no folder; it will learn of both together.
        CompletionStage<AcquireReply> again = store.acquire(request());
        elapse(2 * CUT_MILLIS);
        assertThat(again.toCompletableFuture()).isCompletedWithValueMatching(AcquireReply.Granted.class::isInstance);
        assertThat(ensemble.waiting("a")).isEqualTo(node);
        assertThat(told.messages(Kind.LOST)).isEmpty();
        assertThat(answer(store.release(ReleaseRequest.of("a", "c1:1")))).isEqualTo(ReleaseReply.released());
        assertThat(ensemble.waiting("a")).isEmpty();
    }

    private SimClient connect() {
        SimClient connecting = ensemble.connect("c1", time, Runnable::run, 500, EnsembleBug.NONE);
        while (!connecting.isOpen()) {
            time.runNext();
        }
        return connecting;
    }

    private static AcquireRequest request() {
        return AcquireRequest.queueing("a", "c1:1", 60_000, 1_000);
    }

    /** Before the holder looks for the first time, ten milliseconds after the grant, the answer is there. */
    private <T> T answer(CompletionStage<T> stage) {
        for (int i = 0; i < 100 && !stage.toCompletableFuture().isDone(); i++) {
            elapse(1);
        }
        return stage.toCompletableFuture().getNow(null);
    }

    private void elapse(long millis) {
        time.advance(Duration.ofMillis(millis));
    }
}
