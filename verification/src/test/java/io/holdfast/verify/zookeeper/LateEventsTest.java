package io.holdfast.verify.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.memory.VirtualTime;
import io.holdfast.spi.AcquireReply;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.ReleaseReply;
import io.holdfast.spi.ReleaseRequest;
import io.holdfast.spi.StoreContext;
import io.holdfast.testkit.contract.RecordingListener;
import io.holdfast.testkit.contract.RecordingListener.Kind;
import io.holdfast.testkit.contract.RecordingListener.Message;
import io.holdfast.zookeeper.VerifyZooKeeper;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.SplittableRandom;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.zookeeper.KeeperException;
import org.junit.jupiter.api.Test;

/** Events of the connection that arrive late, after others have followed, as from a slow thread; one schedule each. */
class LateEventsTest {

    private static final long SESSION_MILLIS = 2_000;

    private final VirtualTime time = new VirtualTime();
    private final SimEnsemble ensemble = new SimEnsemble(
            time,
            new SplittableRandom(1),
            new SimEnsemble.Shape(3, 200, (int) SESSION_MILLIS, 1_000_000, 500_000, 0, 0, 5_000_000_000L));
    private final SimClient client = ensemble.connect("c1", time, Runnable::run, 500, EnsembleBug.NONE);
    private final LateConnector connector = new LateConnector(client);
    private final LockStore store = new VerifyZooKeeper(
                    URI.create("zookeeper://simulated/locks?timeout=500ms"),
                    new StoreContext("c1", time),
                    connector,
                    false)
            .store();

    @Test
    void the_end_of_a_session_does_not_end_the_next_one_that_was_found_before_it_was_told() {
        open();
        reconnectUntold();
        ensemble.cutOff(client, Duration.ofMillis(3 * SESSION_MILLIS).toNanos());
        elapse(4 * SESSION_MILLIS);
        assertThat(connector.untold)
                .containsExactly(
                        ConnectionState.SUSPENDED,
                        ConnectionState.RECONNECTED,
                        ConnectionState.SUSPENDED,
                        ConnectionState.LOST,
                        ConnectionState.RECONNECTED);
        connector.tell(2);
        assertThat(answer(store.acquire(request("c1:1")))).isInstanceOf(AcquireReply.Granted.class);
        connector.tell(3);
        assertThatThereIsOneNodeFor("c1:1");
    }

    @Test
    void nothing_is_sent_on_a_handle_that_has_no_session_yet() {
        open();
        reconnectUntold();
        ensemble.cutOff(client, Duration.ofMillis(3 * SESSION_MILLIS).toNanos());
        // Until just before there is a connection again.
        elapse(3 * SESSION_MILLIS - 10);
        assertThat(connector.untold).hasSize(4).last().isEqualTo(ConnectionState.LOST);
        connector.tell(2);
        CompletionStage<AcquireReply> early = store.acquire(request("c1:1"));
        elapse(SESSION_MILLIS);
        assertThat(early.toCompletableFuture()).isCompletedExceptionally();
        assertThat(ensemble.waiting("a")).isEmpty();
        connector.tell(3);
        assertThatThereIsOneNodeFor("c1:1");
    }

    @Test
    void the_end_of_the_session_that_is_in_use_is_told_though_there_is_no_other_yet() {
        RecordingListener told = new RecordingListener();
        store.listen(told);
        open();
        assertThat(answer(store.acquire(request("c1:1")))).isInstanceOf(AcquireReply.Granted.class);
        ensemble.cutOff(client, Duration.ofMillis(10 * SESSION_MILLIS).toNanos());
        elapse(2 * SESSION_MILLIS);
        assertThat(connector.untold).containsExactly(ConnectionState.SUSPENDED, ConnectionState.LOST);
        connector.tell(1);
        assertThat(told.messages(Kind.LOST)).isEmpty();
        connector.tell(1);
        assertThat(told.messages(Kind.LOST)).extracting(Message::holderId).containsExactly("c1:1");
    }

    private void open() {
        elapse(200);
        assertThat(connector.untold).containsExactly(ConnectionState.CONNECTED);
        connector.tell(1);
    }

    private void reconnectUntold() {
        client.breakConnection();
        elapse(1_000);
        assertThat(connector.untold).containsExactly(ConnectionState.SUSPENDED, ConnectionState.RECONNECTED);
    }

    /** And it holds, and is gone after the release. */
    private void assertThatThereIsOneNodeFor(String holderId) {
        assertThat(answer(store.acquire(request(holderId)))).isInstanceOf(AcquireReply.Granted.class);
        assertThat(ensemble.waiting("a")).startsWith(holderId + "~").doesNotContain(",");
        assertThat(answer(store.release(ReleaseRequest.of("a", holderId)))).isEqualTo(ReleaseReply.released());
        assertThat(ensemble.waiting("a")).isEmpty();
    }

    private static AcquireRequest request(String holderId) {
        return AcquireRequest.queueing("a", holderId, 60_000, 1_000);
    }

    private <T> T answer(CompletionStage<T> stage) {
        elapse(100);
        return stage.toCompletableFuture().getNow(null);
    }

    private void elapse(long millis) {
        time.advance(Duration.ofMillis(millis));
    }

    /** Keeps the events until the test wants them told. */
    private static final class LateConnector implements VerifyZooKeeper.Connection {
        private final SimClient client;
        private final ArrayDeque<ConnectionState> untold = new ArrayDeque<>();
        private Consumer<ConnectionState> listener = state -> {};

        LateConnector(SimClient client) {
            this.client = client;
        }

        void tell(int events) {
            for (int i = 0; i < events; i++) {
                listener.accept(untold.remove());
            }
        }

        @Override
        public void listen(Consumer<ConnectionState> changed) {
            listener = changed;
            client.listen(untold::add);
        }

        @Override
        public void start() {
            client.start();
        }

        /** The client gives it out now and then while there is no connection; this is such a time. */
        @Override
        public VerifyZooKeeper.Commands handle() {
            while (true) {
                try {
                    return client.handle();
                } catch (KeeperException.ConnectionLossException e) {
                    // Asks again.
                } catch (KeeperException e) {
                    throw new IllegalStateException(e);
                }
            }
        }

        @Override
        public void close() {
            client.close();
        }
    }
}
