package io.holdfast.redis;

import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreContext;
import io.holdfast.testkit.contract.PoolContract;
import io.holdfast.testkit.servers.RedisReplication;
import java.net.URI;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/** The contract of pools on a master that Sentinels watch, with every hold confirmed by a replica. */
@Tag("deep") // quick: RedisPoolContractTest and PoolStoreTest
class RedisSentinelPoolContractTest extends PoolContract {

    private static RedisReplication servers;

    @BeforeAll
    static void start() {
        servers = RedisReplication.builder().sentinels().start();
    }

    @AfterAll
    static void stop() {
        servers.close();
    }

    @Override
    protected LockStore open(StoreContext context) {
        return new RedisLockStoreProvider()
                .open(URI.create(servers.sentinelUri().replace("#", "?minReplicas=1#")), context);
    }
}
