package io.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.memory.VirtualTime;
import io.holdfast.spi.StoreState;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.AsyncCallback;
import org.apache.zookeeper.KeeperException.Code;
import org.junit.jupiter.api.Test;

/** A lock is inspected from afar: each time, its holder releases it before its node can be read. */
class BusyInspectionTest {

    private int holders;

    private final Handle handle = OneHandle.answering(4_000, (method, arguments) -> {
        switch (method) {
            case "sync" -> ((AsyncCallback.VoidCallback) arguments[1]).processResult(Code.OK.intValue(), "", null);
            case "children" -> {
                int first = holders++;
                ((AsyncCallback.ChildrenCallback) arguments[2])
                        .processResult(Code.OK.intValue(), "", null, List.of(node(first), node(first + 1)));
            }
            case "read" ->
                ((AsyncCallback.DataCallback) arguments[2]).processResult(Code.NONODE.intValue(), "", null, null, null);
            default -> throw new UnsupportedOperationException(method);
        }
        return null;
    });

    @Test
    void a_lock_that_changes_hands_faster_than_it_can_be_asked_about_is_not_free() {
        ZooKeeperLockStore store = OneHandle.store(handle, new VirtualTime());
        CompletableFuture<StoreState> seen = store.inspect("a").toCompletableFuture();
        assertThat(seen).isCompleted();
        StoreState state = seen.join();
        assertThat(state.holder()).startsWith("c:");
        assertThat(state.remainingMillis()).isEqualTo(4_000);
        assertThat(state.waiting()).isEqualTo(1);
    }

    private static String node(int number) {
        return QueueSnapshot.prefix("c:" + number, 1) + String.format("%010d", number);
    }
}
