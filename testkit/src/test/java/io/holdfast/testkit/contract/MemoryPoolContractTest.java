package io.holdfast.testkit.contract;

import io.holdfast.memory.MemoryLockStore;
import io.holdfast.memory.VirtualTime;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.TimeSource;
import java.time.Duration;

class MemoryPoolContractTest extends PoolContract {

    private final VirtualTime time = new VirtualTime();
    private final MemoryLockStore.Server server = new MemoryLockStore.Server(time);

    @Override
    protected LockStore open(StoreContext context) {
        return server.connect(context);
    }

    @Override
    protected void elapse(Duration span) {
        time.advance(span);
    }

    @Override
    protected TimeSource time() {
        return time;
    }

    @Override
    protected boolean timesGrants() {
        return true;
    }
}
