package io.holdfast.redis;

import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreContext;
import io.holdfast.testkit.contract.PoolContract;
import io.holdfast.testkit.servers.Installation;
import io.holdfast.testkit.servers.RedisCluster;
import java.net.URI;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The contract of pools on a cluster: with plain channels, and with sharded ones where there is a server that has them.
 */
@Tag("deep") // quick: RedisPoolContractTest and PoolStoreTest
@ParameterizedClass(name = "{0}")
@MethodSource("io.holdfast.redis.RedisClusterContractTest#servers")
class RedisClusterPoolContractTest extends PoolContract {

    private static RedisCluster cluster;

    RedisClusterPoolContractTest(Installation installation) {}

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

    @Override
    protected LockStore open(StoreContext context) {
        return new RedisLockStoreProvider().open(URI.create(cluster.uri()), context);
    }
}
