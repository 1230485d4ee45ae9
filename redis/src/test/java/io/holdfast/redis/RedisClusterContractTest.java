package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.TimeSource;
import io.holdfast.testkit.contract.LockStoreContract;
import io.holdfast.testkit.servers.Installation;
import io.holdfast.testkit.servers.RedisCluster;
import io.holdfast.testkit.servers.RedisServer;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/** The contract on a cluster: with plain channels, and with sharded ones where there is a server that has them. */
@Tag("deep") // quick: RedisContractTest and RedisClusterStoreTest
@ParameterizedClass(name = "{0}")
@MethodSource("servers")
class RedisClusterContractTest extends LockStoreContract {

    private static RedisCluster cluster;

    RedisClusterContractTest(Installation installation) {}

    /** The first before 7.0, and the first of the others. */
    static List<Installation> servers() {
        List<Installation> chosen = new ArrayList<>();
        for (boolean sharded : new boolean[] {false, true}) {
            RedisServer.available().stream()
                    .filter(one -> one.isAtLeast(7, 0) == sharded)
                    .findFirst()
                    .ifPresent(chosen::add);
        }
        return chosen;
    }

    @BeforeParameterizedClassInvocation
    static void start(Installation installation) {
        cluster = RedisCluster.builder()
                .installation(installation)
                .replicasEach(0)
                .start();
    }

    @AfterParameterizedClassInvocation
    static void stop() {
        cluster.close();
    }

    @Test
    void onlyNamesOfOneSlotAreTakenTogether() {
        try (LockStore store = open(new StoreContext("hf-slots", TimeSource.system()))) {
            assertThat(store.canAcquireAll(List.of("a{x}", "b{x}"))).isTrue();
            assertThat(store.canAcquireAll(List.of("a", "b"))).isFalse();
        }
    }

    @Override
    protected LockStore open(StoreContext context) {
        return new RedisLockStoreProvider().open(URI.create(cluster.uri()), context);
    }
}
