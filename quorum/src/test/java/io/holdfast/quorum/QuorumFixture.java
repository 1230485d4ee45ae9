package io.holdfast.quorum;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.memory.VirtualTime;
import io.holdfast.quorum.memory.MemoryQuorumNode;
import io.holdfast.spi.AcquireReply;
import io.holdfast.spi.AcquireReply.Busy;
import io.holdfast.spi.AcquireReply.Granted;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.ReleaseRequest;
import io.holdfast.spi.RenewReply;
import io.holdfast.spi.RenewRequest;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.StoreListener;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;

/** Members in this process under virtual time, whose connections a test troubles, and clients of their quorum. */
class QuorumFixture {

    static final long LEASE_MILLIS = 10_000;
    static final Duration LONGEST = Duration.ofSeconds(30);
    static final String NAME = "order:1";

    final VirtualTime time = new VirtualTime();
    final List<MemoryQuorumNode> nodes = new ArrayList<>();
    private int clients;

    QuorumFixture() {
        this(3);
    }

    QuorumFixture(int members) {
        for (int i = 0; i < members; i++) {
            nodes.add(new MemoryQuorumNode("m" + i, time));
        }
    }

    final class Client {
        final String id = "c" + clients++;
        final List<TroubledMember.Trouble> troubles = new ArrayList<>();
        final QuorumLockStore store;
        private int ids;

        Client() {
            this(true);
        }

        Client(boolean bootstrap) {
            QuorumStores.Builder builder =
                    QuorumStores.builder().bootstrap(bootstrap).longestLease(LONGEST);
            SplittableRandom random = new SplittableRandom(clients);
            builder.settings().random = random::nextLong;
            for (MemoryQuorumNode node : nodes) {
                TroubledMember.Trouble trouble = new TroubledMember.Trouble();
                troubles.add(trouble);
                // Made here, as several threads open the members at once.
                SplittableRandom own = random.split();
                builder.member(
                        "m" + nodes.indexOf(node),
                        context -> new TroubledMember(node.connect(context), time, trouble, own));
            }
            store = (QuorumLockStore) builder.open(new StoreContext(id, time));
        }

        String newId() {
            return id + ":" + ids++;
        }

        CompletableFuture<AcquireReply> take(String holderId) {
            return store.acquire(AcquireRequest.once(NAME, holderId, LEASE_MILLIS))
                    .toCompletableFuture();
        }

        /** Acquires immediately; fails if that takes time or is refused. */
        Granted granted(String holderId) {
            CompletableFuture<AcquireReply> reply = take(holderId);
            assertThat(reply).isCompleted();
            assertThat(reply.join()).isInstanceOf(Granted.class);
            return (Granted) reply.join();
        }

        Busy busy(String holderId) {
            AcquireReply reply = await(take(holderId));
            assertThat(reply).isInstanceOf(Busy.class);
            return (Busy) reply;
        }

        /** Asks for the name, which is held, and waits for its release. */
        void waits(String holderId) {
            AcquireReply reply = await(store.acquire(AcquireRequest.queueing(NAME, holderId, LEASE_MILLIS, 1_000)));
            assertThat(reply).isInstanceOf(Busy.class);
        }

        /** From now on, runs the action when the client receives a release. */
        void onReleased(Runnable action) {
            store.listen(new StoreListener() {
                @Override
                public void granted(String name, String holderId) {
                    throw new AssertionError("members grant nothing by themselves");
                }

                @Override
                public void released(String name) {
                    action.run();
                }

                @Override
                public void contended(String name, String holderId) {}

                @Override
                public void reconnected() {}
            });
        }

        CompletableFuture<RenewReply> renew(String holderId) {
            return store.renew(RenewRequest.extend(NAME, holderId, LEASE_MILLIS, 0))
                    .toCompletableFuture();
        }

        boolean release(String holderId) {
            return await(store.release(ReleaseRequest.of(NAME, holderId))).wasHeld();
        }
    }

    /** Returns the answer, and advances the time for it by at most a few seconds. */
    <T> T await(CompletionStage<T> stage) {
        for (int i = 0; i < 500 && !stage.toCompletableFuture().isDone(); i++) {
            time.advance(Duration.ofMillis(10));
        }
        assertThat(stage.toCompletableFuture()).isDone();
        return stage.toCompletableFuture().join();
    }

    StoreException failure(CompletionStage<?> stage) {
        try {
            Object answer = await(stage);
            throw new AssertionError("answered " + answer);
        } catch (CompletionException e) {
            assertThat(e.getCause()).isInstanceOf(StoreException.class);
            return (StoreException) e.getCause();
        }
    }
}
