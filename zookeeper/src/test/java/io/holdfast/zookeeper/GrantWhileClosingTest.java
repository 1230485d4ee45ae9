package io.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.memory.VirtualTime;
import io.holdfast.spi.AcquireReply.Granted;
import io.holdfast.spi.AcquireRequest;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.zookeeper.AsyncCallback;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.data.Stat;
import org.junit.jupiter.api.Test;

/** A grant whose answer comes after the contenders were stopped, and before the session has ended. */
class GrantWhileClosingTest {

    private static final Stat STAT = new Stat();

    static {
        STAT.setCzxid(1);
    }

    private final VirtualTime time = new VirtualTime();
    private Runnable created = () -> {};
    private String node = "";
    private boolean over;

    /** Withholds the answer to a create until the session has ended. */
    private final Handle handle = OneHandle.answering(4_000, (method, arguments) -> {
        int code = over ? Code.SESSIONEXPIRED.intValue() : Code.OK.intValue();
        switch (method) {
            case "create" -> {
                String path = arguments[0] + "0000000000";
                node = path.substring(path.lastIndexOf('/') + 1);
                created = () ->
                        ((AsyncCallback.Create2Callback) arguments[3]).processResult(code, path, null, path, STAT);
            }
            case "write" -> ((AsyncCallback.StatCallback) arguments[2]).processResult(code, "", null, STAT);
            case "children" ->
                ((AsyncCallback.ChildrenCallback) arguments[2])
                        .processResult(code, "", null, over ? null : List.of(node));
            default -> throw new UnsupportedOperationException(method);
        }
        return null;
    });

    @Test
    void begins_no_timer_that_goes_on_for_ever() {
        ZooKeeperLockStore store = OneHandle.store(handle, time);
        CompletableFuture<?> asked =
                store.acquire(AcquireRequest.queueing("a", "c:1", 1_000, 1_000)).toCompletableFuture();
        store.close();
        created.run();
        assertThat(asked).isCompletedWithValueMatching(Granted.class::isInstance);
        over = true;
        time.advance(Duration.ofMinutes(1));
        assertThat(time.pending()).isZero();
    }
}
