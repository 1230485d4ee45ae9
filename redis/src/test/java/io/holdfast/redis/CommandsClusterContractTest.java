package io.holdfast.redis;

import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreContext;
import io.holdfast.testkit.contract.LockStoreContract;
import io.holdfast.testkit.servers.RedisCluster;
import java.net.URI;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/** The contract in mode {@code commands} in a cluster. */
@Tag("deep") // quick: CommandsContractTest, and CommandsTopologyTest in a cluster
class CommandsClusterContractTest extends LockStoreContract {

    private static RedisCluster cluster;

    @BeforeAll
    static void start() {
        cluster = RedisCluster.builder().replicasEach(0).start();
    }

    @AfterAll
    static void stop() {
        cluster.close();
    }

    @Override
    protected LockStore open(StoreContext context) {
        return new RedisLockStoreProvider().open(URI.create(cluster.uri() + "?mode=commands"), context);
    }

    @Override
    protected boolean showsBases() {
        return false;
    }

    @Override
    protected boolean hasQueue() {
        return false;
    }
}
