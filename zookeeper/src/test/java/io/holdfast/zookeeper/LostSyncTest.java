package io.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.memory.VirtualTime;
import io.holdfast.spi.AcquireRequest;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.AsyncCallback;
import org.apache.zookeeper.KeeperException.Code;
import org.junit.jupiter.api.Test;

/**
 * The connection ends between a sync and the look that follows: the look goes to another server, which may not have
 * executed yet what the look is for.
 */
class LostSyncTest {

    private int created;

    /** Executes creates without an answer, loses each sync and deletion, and shows a folder without the create. */
    private final Handle handle = OneHandle.answering(4_000, (method, arguments) -> {
        switch (method) {
            case "create" -> {
                created++;
                ((AsyncCallback.Create2Callback) arguments[3])
                        .processResult(Code.CONNECTIONLOSS.intValue(), "", null, null, null);
            }
            case "sync", "delete" ->
                ((AsyncCallback.VoidCallback) arguments[1]).processResult(Code.CONNECTIONLOSS.intValue(), "", null);
            case "children" ->
                ((AsyncCallback.ChildrenCallback) arguments[2]).processResult(Code.OK.intValue(), "", null, List.of());
            default -> throw new UnsupportedOperationException(method);
        }
        return null;
    });

    @Test
    void a_node_that_a_server_does_not_know_may_be_there_all_the_same() {
        VirtualTime time = new VirtualTime();
        ZooKeeperLockStore store = OneHandle.store(handle, time);
        AcquireRequest request = AcquireRequest.queueing("a", "c:1", 1_000, 1_000);
        for (int i = 0; i < 3; i++) {
            CompletableFuture<?> asked = store.acquire(request).toCompletableFuture();
            assertThat(asked).isCompletedExceptionally();
        }
        assertThat(created).isEqualTo(1);
    }
}
