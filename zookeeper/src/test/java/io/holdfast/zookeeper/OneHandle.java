package io.holdfast.zookeeper;

import io.holdfast.memory.VirtualTime;
import io.holdfast.spi.StoreContext;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.util.function.Consumer;
import org.apache.curator.framework.state.ConnectionState;
import org.jspecify.annotations.Nullable;

/** Connects immediately, to one handle that a test made. */
final class OneHandle implements Connector {

    private final Handle handle;
    private Consumer<ConnectionState> states = state -> {};

    private OneHandle(Handle handle) {
        this.handle = handle;
    }

    /** What a test's handle does with a command. */
    @FunctionalInterface
    interface Commands {

        /**
         * Answers, or keeps the answer; null from methods that return nothing.
         *
         * @throws UnsupportedOperationException for a method that the test does not expect
         */
        @Nullable
        Object run(String method, Object[] arguments);
    }

    /** A handle of one session that lasts, whose other methods the test answers. */
    static Handle answering(int sessionMillis, Commands commands) {
        return answering(sessionMillis, 1, commands);
    }

    /** @param id of the session; 0 for a handle that has none */
    static Handle answering(int sessionMillis, long id, Commands commands) {
        return (Handle) Proxy.newProxyInstance(
                Handle.class.getClassLoader(),
                new Class<?>[] {Handle.class},
                (proxy, method, arguments) -> switch (method.getName()) {
                    case "sessionId" -> id;
                    case "sessionTimeout" -> sessionMillis;
                    default -> commands.run(method.getName(), arguments);
                });
    }

    /** A store that is connected to the handle. */
    static ZooKeeperLockStore store(Handle handle, VirtualTime time) {
        OneHandle connector = new OneHandle(handle);
        ZooKeeperLockStore store = new ZooKeeperLockStore(
                ZooKeeperSettings.parse(URI.create("zookeeper://nowhere/locks")),
                new StoreContext("c", time),
                connector,
                () -> new SessionClock(time));
        connector.states.accept(ConnectionState.CONNECTED);
        return store;
    }

    @Override
    public void listen(Consumer<ConnectionState> changed) {
        states = changed;
    }

    @Override
    public void start() {
        states.accept(ConnectionState.CONNECTED);
    }

    @Override
    public Handle handle() {
        return handle;
    }

    @Override
    public void close() {}
}
