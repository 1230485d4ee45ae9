package io.holdfast.verify.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.spi.AcquireReply.Busy;
import io.holdfast.spi.AcquireReply.Granted;
import io.holdfast.spi.ReleaseRequest;
import io.holdfast.testkit.contract.RecordingListener;
import io.holdfast.testkit.contract.RecordingListener.Kind;
import io.holdfast.testkit.contract.RecordingListener.Message;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/**
 * One client holds for long, and another waits for a short time, again and again. ZooKeeper keeps a watcher until it
 * has told it something.
 */
class ShortWaitsTest {

    private final SmallEnsemble ensemble = new SmallEnsemble(4_000);
    private final SimClient holder = ensemble.connect("c1", ensemble.world, Runnable::run);
    private final SimClient waiter = ensemble.connect("c2", ensemble.world, Runnable::run);
    private final RecordingListener told = new RecordingListener();

    @Test
    void who_gives_up_waiting_leaves_no_watcher() {
        waiter.store().listen(told);
        assertThat(ask(holder, "c1:1")).isCompletedWithValueMatching(Granted.class::isInstance);
        for (int i = 0; i < 100; i++) {
            assertThat(ask(waiter, "c2:" + i)).isCompletedWithValueMatching(Busy.class::isInstance);
            CompletableFuture<?> withdrawn =
                    waiter.store().abandon("a", "c2:" + i).toCompletableFuture();
            ensemble.elapse(20);
            assertThat(withdrawn).isCompleted();
        }
        assertThat(waiter.watchers()).isLessThanOrEqualTo(2);

        assertThat(ask(waiter, "c2:last")).isCompletedWithValueMatching(Busy.class::isInstance);
        CompletableFuture<?> released =
                holder.store().release(ReleaseRequest.of("a", "c1:1")).toCompletableFuture();
        ensemble.elapse(50);
        assertThat(released).isCompleted();
        assertThat(told.messages(Kind.GRANTED)).extracting(Message::holderId).containsExactly("c2:last");
    }

    /** The one who gave up may have been who asked for the watch. */
    @Test
    void who_gives_up_waiting_takes_no_watcher_from_others() {
        waiter.store().listen(told);
        assertThat(ask(holder, "c1:1")).isCompletedWithValueMatching(Granted.class::isInstance);
        assertThat(ask(waiter, "c2:1")).isCompletedWithValueMatching(Busy.class::isInstance);
        CompletableFuture<?> withdrawn = waiter.store().abandon("a", "c2:1").toCompletableFuture();
        CompletableFuture<?> queued = SmallEnsemble.ask(waiter.store(), "c2:2");
        CompletableFuture<?> released =
                holder.store().release(ReleaseRequest.of("a", "c1:1")).toCompletableFuture();
        ensemble.elapse(50);
        assertThat(withdrawn).isCompleted();
        assertThat(released).isCompleted();
        assertThat(queued).isCompleted();
        assertThat(queued.join() instanceof Granted
                        || !told.messages(Kind.GRANTED).isEmpty())
                .isTrue();
    }

    private CompletableFuture<?> ask(SimClient client, String holderId) {
        CompletableFuture<?> asked = SmallEnsemble.ask(client.store(), holderId);
        ensemble.elapse(20);
        return asked;
    }
}
