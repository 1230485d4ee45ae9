package io.holdfast.redis;

import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreContext;
import io.holdfast.testkit.contract.PoolContract;
import io.holdfast.testkit.servers.RedisServer;
import java.net.URI;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/**
 * The contract of pools on a server that has neither EVALSHA nor SCRIPT nor any pub/sub, as some services and proxies:
 * the pools are the same. Only what needs a grant that the server pushes is left out.
 */
@Tag("deep") // quick: RedisPoolContractTest
class RestrictedPoolContractTest extends PoolContract {

    private static RedisServer server;

    @BeforeAll
    static void start() {
        server = RedisServer.builder()
                .args(RestrictedServiceTest.without("EVALSHA", "SCRIPT", "PUBLISH", "SUBSCRIBE", "PUBSUB"))
                .start();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @Override
    protected boolean hasQueue() {
        return false;
    }

    @Override
    protected boolean sendsMessages() {
        return false;
    }

    @Override
    protected LockStore open(StoreContext context) {
        return new RedisLockStoreProvider().open(URI.create(server.uri()), context);
    }
}
