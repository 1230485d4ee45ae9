package io.holdfast.zookeeper;

import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreContext;
import io.holdfast.testkit.contract.PoolContract;
import io.holdfast.testkit.servers.ZooKeeperEnsemble;
import java.net.URI;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/** The contract of pools, on one server. */
@Tag("deep") // quick: PoolQueueTest and the simulation
class ZooKeeperPoolContractTest extends PoolContract {

    private static ZooKeeperEnsemble servers;

    @BeforeAll
    static void start() {
        servers = ZooKeeperEnsemble.start(1);
    }

    @AfterAll
    static void stop() {
        servers.close();
    }

    /** The contract calls two thirds of the session long. */
    @Override
    protected LockStore open(StoreContext context) {
        return new ZooKeeperLockStoreProvider().open(URI.create(servers.uri() + "?sessionTimeout=90s"), context);
    }

    @Override
    protected boolean promisesParts() {
        return true;
    }

    /** A little longer, as a command removes what has run out. */
    @Override
    protected void elapse(Duration span) {
        super.elapse(span.plusMillis(60));
    }

    @Override
    protected boolean passesOnAtExpiry() {
        return true;
    }

    /** A waiter sees the nodes of holders, and not what is in them. */
    @Override
    protected boolean knowsEnds() {
        return false;
    }
}
