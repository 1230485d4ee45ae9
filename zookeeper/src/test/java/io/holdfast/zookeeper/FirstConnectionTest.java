package io.holdfast.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.memory.VirtualTime;
import java.net.URI;
import java.util.function.Consumer;
import org.apache.curator.framework.state.ConnectionState;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The first connection breaks before its session can be used, as beside a server that is about to restart. */
@Timeout(20)
class FirstConnectionTest {

    @Test
    void an_opening_waits_for_the_next_connection() {
        VirtualTime time = new VirtualTime();
        BreaksOnce connector = new BreaksOnce();
        StoreAccess access = new StoreAccess(
                ZooKeeperSettings.parse(URI.create("zookeeper://nowhere/locks")),
                time,
                connector,
                () -> new SessionClock(time),
                session -> {});
        assertThat(access.connect().id()).isEqualTo(7);
        assertThat(connector.handles).isEqualTo(2);
    }

    private static final class BreaksOnce implements Connector {

        private Consumer<ConnectionState> states = state -> {};
        private int handles;

        @Override
        public void listen(Consumer<ConnectionState> changed) {
            states = changed;
        }

        @Override
        public void start() {
            new Thread(() -> {
                        states.accept(ConnectionState.CONNECTED);
                        states.accept(ConnectionState.SUSPENDED);
                        states.accept(ConnectionState.RECONNECTED);
                    })
                    .start();
        }

        /** The first one has no session yet, or no longer. */
        @Override
        public Handle handle() {
            handles++;
            return OneHandle.answering(4_000, handles == 1 ? 0 : 7, (method, arguments) -> {
                throw new UnsupportedOperationException(method);
            });
        }

        @Override
        public void close() {}
    }
}
