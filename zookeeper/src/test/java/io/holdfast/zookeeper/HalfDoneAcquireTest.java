package io.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.memory.VirtualTime;
import io.holdfast.spi.AcquireReply;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.ReleaseRequest;
import io.holdfast.spi.StoreException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.apache.zookeeper.AsyncCallback;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.data.Stat;
import org.junit.jupiter.api.Test;

/** An acquire takes several commands: the first creates the node, and a later one is refused. */
@SuppressWarnings("unchecked") // arguments of the handle
class HalfDoneAcquireTest {

    private static final Stat STAT = new Stat();

    static {
        STAT.setCzxid(1);
    }

    private final List<String> nodes = new ArrayList<>();

    private boolean refuses;

    /** Refuses writes to existing nodes, as busy servers may. */
    private final Handle handle = OneHandle.answering(4_000, (method, arguments) -> {
        switch (method) {
            case "create" -> {
                String path = arguments[0] + "0000000000";
                nodes.add(path.substring(path.lastIndexOf('/') + 1));
                ((AsyncCallback.Create2Callback) arguments[3])
                        .processResult(Code.OK.intValue(), path, null, path, STAT);
            }
            case "children" ->
                ((AsyncCallback.ChildrenCallback) arguments[2])
                        .processResult(Code.OK.intValue(), "", null, List.copyOf(nodes));
            case "write" ->
                ((AsyncCallback.StatCallback) arguments[2])
                        .processResult((refuses ? Code.THROTTLEDOP : Code.OK).intValue(), "", null, STAT);
            case "access" -> {
                return List.of();
            }
            case "together" -> {
                String path = ((List<Op>) arguments[0]).get(1).getPath() + "0000000001";
                nodes.set(0, path.substring(path.lastIndexOf('/') + 1));
                ((AsyncCallback.MultiCallback) arguments[1])
                        .processResult(
                                Code.OK.intValue(),
                                "",
                                null,
                                List.of(new OpResult.DeleteResult(), new OpResult.CreateResult(path)));
            }
            case "sync" -> ((AsyncCallback.VoidCallback) arguments[1]).processResult(Code.OK.intValue(), "", null);
            default -> throw new UnsupportedOperationException(method);
        }
        return null;
    });

    private final ZooKeeperLockStore store = OneHandle.store(handle, new VirtualTime());

    @Test
    void is_not_said_to_have_done_nothing() {
        refuses = true;
        saysThatItIsUnknown(store.acquire(request("c:1", false)));
    }

    @Test
    void nor_is_one_that_is_part_of_a_release() {
        assertThat(store.acquire(request("c:1", true)).toCompletableFuture())
                .isCompletedWithValueMatching(AcquireReply.Granted.class::isInstance);
        refuses = true;
        saysThatItIsUnknown(store.release(ReleaseRequest.requeueing("a", "c:1", request("c:2", true))));
        assertThat(nodes.get(0)).startsWith("c:2~");
    }

    /** Otherwise the node is not withdrawn, and no client gets the lock for some seconds. */
    private void saysThatItIsUnknown(CompletionStage<?> asked) {
        assertThat(nodes).hasSize(1);
        assertThat(asked.toCompletableFuture())
                .isCompletedExceptionally()
                .failsWithin(Duration.ZERO)
                .withThrowableThat()
                .havingCause()
                .isInstanceOfSatisfying(
                        StoreException.class, e -> assertThat(e.outcome()).isEqualTo(StoreException.Outcome.UNKNOWN))
                .withMessageContaining("THROTTLEDOP");
    }

    private static AcquireRequest request(String holderId, boolean queue) {
        return new AcquireRequest("a", holderId, 1_000, queue, 1_000, 0);
    }
}
