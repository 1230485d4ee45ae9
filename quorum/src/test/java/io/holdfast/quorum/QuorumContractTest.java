package io.holdfast.quorum;

import io.holdfast.quorum.memory.MemoryQuorumNode;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.TimeSource;
import io.holdfast.testkit.contract.LockStoreContract;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/** The contract on quorums of members in this process. */
@ParameterizedClass(name = "{0} members")
@MethodSource("numbers")
class QuorumContractTest extends LockStoreContract {

    /** Real time: threads that split the votes pause, and nobody would advance a virtual time for them. */
    private final TimeSource time = TimeSource.system();

    private final List<MemoryQuorumNode> nodes = new ArrayList<>();

    static IntStream numbers() {
        return Boolean.getBoolean("holdfast.quick") ? IntStream.of(3) : IntStream.of(3, 5);
    }

    QuorumContractTest(int members) {
        for (int i = 0; i < members; i++) {
            nodes.add(new MemoryQuorumNode("memory " + i, time));
        }
    }

    @Override
    protected LockStore open(StoreContext context) {
        QuorumStores.Builder builder = QuorumStores.builder().bootstrap(true).memberTimeout(Duration.ofSeconds(5));
        for (MemoryQuorumNode node : nodes) {
            builder.member("memory " + nodes.indexOf(node), node::connect);
        }
        return builder.open(context);
    }

    @Override
    protected TimeSource time() {
        return time;
    }

    @Override
    protected boolean hasQueue() {
        return false;
    }
}
