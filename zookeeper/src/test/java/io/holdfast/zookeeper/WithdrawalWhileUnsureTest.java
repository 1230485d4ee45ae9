package io.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.memory.VirtualTime;
import io.holdfast.spi.AcquireReply.Granted;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.RenewRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.apache.zookeeper.AsyncCallback;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.data.Stat;
import org.junit.jupiter.api.Test;

/**
 * After a long pause (here: a wall clock that is set forward) it takes a quarter of a session until anything can be
 * promised again. A client that gives up before that must not keep the lock from others until then.
 */
class WithdrawalWhileUnsureTest {

    private static final int SESSION_MILLIS = 600_000;
    private static final Stat STAT = new Stat();

    static {
        STAT.setCzxid(1);
    }

    private final VirtualTime time = new VirtualTime();
    private final List<String> nodes = new ArrayList<>();
    private boolean keepsDeletions;
    private Runnable deleted = () -> {};
    private CompletableFuture<?> asked = new CompletableFuture<>();

    private final Handle handle = OneHandle.answering(SESSION_MILLIS, (method, arguments) -> {
        switch (method) {
            case "create" -> {
                String path = arguments[0] + "000000000" + nodes.size();
                nodes.add(path.substring(path.lastIndexOf('/') + 1));
                ((AsyncCallback.Create2Callback) arguments[3])
                        .processResult(Code.OK.intValue(), path, null, path, STAT);
            }
            case "children" ->
                ((AsyncCallback.ChildrenCallback) arguments[2])
                        .processResult(Code.OK.intValue(), "", null, List.copyOf(nodes));
            case "write" ->
                ((AsyncCallback.StatCallback) arguments[2]).processResult(Code.OK.intValue(), "", null, STAT);
            case "delete" -> {
                nodes.remove(((String) arguments[0]).substring(((String) arguments[0]).lastIndexOf('/') + 1));
                deleted = () -> ((AsyncCallback.VoidCallback) arguments[1]).processResult(Code.OK.intValue(), "", null);
                if (!keepsDeletions) {
                    deleted.run();
                }
            }
            default -> throw new UnsupportedOperationException(method);
        }
        return null;
    });

    private final ZooKeeperLockStore store = OneHandle.store(handle, time);

    @Test
    void an_acquire_that_is_withdrawn_leaves_the_lock_at_once() {
        time.stepWall(Duration.ofHours(1));
        CompletionStage<?> asked = store.acquire(request());
        elapse(1_000);
        assertThat(asked.toCompletableFuture()).isNotDone();
        assertThat(nodes).hasSize(1);
        CompletableFuture<Boolean> withdrawn = store.abandon("a", "c:1").toCompletableFuture();
        elapse(100);
        assertThat(nodes).isEmpty();
        assertThat(withdrawn).isCompletedWithValue(true);
        assertThat(asked.toCompletableFuture()).isCompletedExceptionally();
        assertThat(store.size()).isZero();
    }

    @Test
    void a_hold_that_is_withdrawn_during_a_renewal_leaves_the_lock_at_once() {
        assertThat(store.acquire(request()).toCompletableFuture())
                .isCompletedWithValueMatching(Granted.class::isInstance);
        time.stepWall(Duration.ofHours(1));
        CompletionStage<?> renewed = store.renew(RenewRequest.extend("a", "c:1", 60_000, 0));
        elapse(1_000);
        assertThat(renewed.toCompletableFuture()).isNotDone();
        CompletableFuture<Boolean> withdrawn = store.abandon("a", "c:1").toCompletableFuture();
        elapse(100);
        assertThat(nodes).isEmpty();
        assertThat(withdrawn).isCompletedWithValue(true);
        assertThat(renewed.toCompletableFuture()).isCompletedExceptionally();
        assertThat(store.size()).isZero();
    }

    /** The time of the id's node is over, and the withdrawal would not find the new node. */
    @Test
    void an_acquire_that_is_withdrawn_before_it_begins_anew_does_not_begin() {
        // This runs before the timer that ends the node at the same time.
        time.schedule(Duration.ofMinutes(1).toNanos(), () -> {
            keepsDeletions = true;
            asked = store.acquire(request()).toCompletableFuture();
        });
        assertThat(store.acquire(request()).toCompletableFuture())
                .isCompletedWithValueMatching(Granted.class::isInstance);
        elapse(59_999);
        time.stepWall(Duration.ofHours(1));
        elapse(1);
        CompletableFuture<Boolean> withdrawn = store.abandon("a", "c:1").toCompletableFuture();
        keepsDeletions = false;
        deleted.run();
        elapse(100);
        assertThat(nodes).isEmpty();
        assertThat(withdrawn).isCompleted();
        assertThat(asked).isCompletedExceptionally();
        assertThat(store.size()).isZero();
    }

    private static AcquireRequest request() {
        return AcquireRequest.queueing("a", "c:1", 60_000, 1_000);
    }

    private void elapse(long millis) {
        time.advance(Duration.ofMillis(millis));
    }
}
