package io.holdfast.redis;

import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreContext;
import io.holdfast.testkit.contract.PoolContract;
import io.holdfast.testkit.servers.Installation;
import io.holdfast.testkit.servers.RedisServer;
import java.net.URI;
import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/** The contract of pools on one server. */
@ParameterizedClass(name = "{0}")
@MethodSource("io.holdfast.testkit.servers.RedisServer#available")
class RedisPoolContractTest extends PoolContract {

    private static RedisServer server;

    RedisPoolContractTest(Installation installation) {}

    @BeforeParameterizedClassInvocation
    static void start(Installation installation) {
        server = RedisServer.builder().installation(installation).start();
    }

    @AfterParameterizedClassInvocation
    static void stop() {
        server.close();
    }

    @Override
    protected LockStore open(StoreContext context) {
        return new RedisLockStoreProvider().open(URI.create(server.uri()), context);
    }

    @Override
    protected boolean timesGrants() {
        return true;
    }
}
