package io.holdfast.zookeeper;

import io.holdfast.memory.VirtualTime;
import io.holdfast.spi.StoreContext;
import java.net.URI;
import java.util.function.Consumer;
import org.apache.curator.framework.state.ConnectionState;

/** Connects to a handle that a test made, at once and for good. */
final class OneHandle implements Connector {

    private final Handle handle;
    private Consumer<ConnectionState> states = state -> {};

    private OneHandle(Handle handle) {
        this.handle = handle;
    }

    /** A store that is connected to it. */
    static ZooKeeperLockStore store(Handle handle, VirtualTime time) {
        OneHandle connector = new OneHandle(handle);
        ZooKeeperLockStore store = new ZooKeeperLockStore(
                ZooKeeperSettings.parse(URI.create("zookeeper://nowhere/locks")),
                new StoreContext("c", time),
                connector,
                () -> new Contacts(time));
        connector.states.accept(ConnectionState.CONNECTED);
        return store;
    }

    @Override
    public void listen(Consumer<ConnectionState> changed) {
        states = changed;
    }

    @Override
    public boolean connect(long millis) {
        return true;
    }

    @Override
    public Handle handle() {
        return handle;
    }

    @Override
    public void close() {}
}
