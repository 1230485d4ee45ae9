package io.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.memory.VirtualTime;
import io.holdfast.spi.StoreContext;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.apache.curator.framework.state.ConnectionState;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The thread that opens a store sees the connection, and Curator's thread reports it at the same moment. */
@Timeout(20)
class ConnectionSeenTwiceTest {

    @SuppressWarnings("ReferenceEquality") // a proxy is equal to itself alone
    private final Handle handle = (Handle) Proxy.newProxyInstance(
            Handle.class.getClassLoader(),
            new Class<?>[] {Handle.class},
            (proxy, method, arguments) -> switch (method.getName()) {
                case "sessionId" -> 1L;
                case "sessionTimeout" -> 4_000;
                case "equals" -> proxy == arguments[0];
                default -> throw new UnsupportedOperationException(method.getName());
            });

    private Consumer<ConnectionState> states = state -> {};

    private final Connector connector = (Connector) Proxy.newProxyInstance(
            Connector.class.getClassLoader(), new Class<?>[] {Connector.class}, (proxy, method, arguments) -> {
                switch (method.getName()) {
                    case "listen" -> listen(arguments[0]);
                    case "handle" -> {
                        return handle;
                    }
                    default -> throw new UnsupportedOperationException(method.getName());
                }
                return null;
            });

    /** With two Session objects, a waiter of one would not receive the messages of the other's watches. */
    @Test
    void a_session_is_known_once() throws InterruptedException {
        VirtualTime time = new VirtualTime();
        AtomicInteger sessions = new AtomicInteger();
        CountDownLatch second = new CountDownLatch(2);
        ZooKeeperLockStore store = new ZooKeeperLockStore(
                ZooKeeperSettings.parse(URI.create("zookeeper://nowhere/locks")),
                new StoreContext("c", time),
                connector,
                () -> {
                    sessions.incrementAndGet();
                    second.countDown();
                    await(second);
                    return new SessionClock(time);
                });
        Thread curator = new Thread(() -> states.accept(ConnectionState.CONNECTED));
        curator.start();
        states.accept(ConnectionState.CONNECTED);
        curator.join();
        assertThat(sessions).hasValue(1);
        assertThat(store.session().id()).isEqualTo(1);
    }

    @SuppressWarnings("unchecked")
    private void listen(Object listener) {
        states = (Consumer<ConnectionState>) listener;
    }

    /** Waits until the other thread is there, or most likely does not come. */
    private static void await(CountDownLatch latch) {
        try {
            if (latch.await(500, TimeUnit.MILLISECONDS)) {
                return;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
