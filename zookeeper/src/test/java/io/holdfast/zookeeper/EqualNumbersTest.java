package io.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.memory.VirtualTime;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.StoreException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.apache.zookeeper.AsyncCallback;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.data.Stat;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Two nodes of a lock that have the same number: nobody knows which of them came first, so neither holds. */
class EqualNumbersTest {

    private static final String OTHER = "c:9~2~0000000005";

    private final List<String> nodes = new ArrayList<>();
    private boolean otherFirst;

    /** Gives each node the number 5. */
    private final Handle handle = OneHandle.answering(4_000, (method, arguments) -> {
        switch (method) {
            case "create" -> {
                String path = arguments[0] + "0000000005";
                nodes.add(otherFirst ? nodes.size() : 0, path.substring(path.lastIndexOf('/') + 1));
                ((AsyncCallback.Create2Callback) arguments[3])
                        .processResult(Code.OK.intValue(), path, null, path, new Stat(1, 1, 0, 0, 0, 0, 0, 1, 0, 0, 1));
            }
            case "children" ->
                ((AsyncCallback.ChildrenCallback) arguments[2])
                        .processResult(Code.OK.intValue(), "", null, List.copyOf(nodes));
            case "delete" -> {
                String path = (String) arguments[0];
                nodes.remove(path.substring(path.lastIndexOf('/') + 1));
                ((AsyncCallback.VoidCallback) arguments[1]).processResult(Code.OK.intValue(), path, null);
            }
            case "sync" -> ((AsyncCallback.VoidCallback) arguments[1]).processResult(Code.OK.intValue(), "", null);
            default -> throw new UnsupportedOperationException(method);
        }
        return null;
    });

    private final ZooKeeperLockStore store = OneHandle.store(handle, new VirtualTime());

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void are_an_error_for_whoever_made_one_of_them(boolean listedFirst) {
        otherFirst = listedFirst;
        nodes.add(OTHER);
        isRefused(store.acquire(AcquireRequest.queueing("a", "c:1", 1_000, 1_000)));
        assertThat(nodes).containsExactly(OTHER);
    }

    @ParameterizedTest
    @CsvSource({"c:1~1~0000000005, c:9~2~0000000005", "c:1~1~2147483647, c:9~2~2147483647"})
    void have_no_holder_to_show(String node, String other) {
        nodes.addAll(List.of(node, other));
        isRefused(store.inspect("a"));
    }

    private static void isRefused(CompletionStage<?> asked) {
        assertThat(asked.toCompletableFuture())
                .failsWithin(Duration.ZERO)
                .withThrowableThat()
                .havingCause()
                .isInstanceOfSatisfying(
                        StoreException.class, e -> assertThat(e.outcome()).isEqualTo(StoreException.Outcome.FATAL))
                .withMessageContaining("of the lock \"a\" have the same number");
    }
}
