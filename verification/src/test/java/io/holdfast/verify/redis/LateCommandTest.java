package io.holdfast.verify.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.memory.VirtualTime;
import io.holdfast.redis.server.RedisKeys;
import io.holdfast.spi.AcquireReply.Busy;
import io.holdfast.spi.AcquireReply.Granted;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.ReleaseReply;
import io.holdfast.spi.ReleaseRequest;
import io.holdfast.spi.RenewReply.Renewed;
import io.holdfast.spi.RenewRequest;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.TimeSource;
import io.holdfast.verify.redis.KeySpace.Kind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

/** Schedules that the simulation, or reading for it, has found: one each, over the simulated Redis. */
class LateCommandTest {

    private static final String ID = "hf-me:1";

    private final VirtualTime world = new VirtualTime();
    private final SimRedis server = new SimRedis(world, Kind.VALKEY_9, List.of("n"));
    private final SplittableRandom random = new SplittableRandom(1);
    private final SimNetwork network = new SimNetwork();
    private final CommandsSimulation process = new CommandsSimulation(server, "hf-me", new SimEnd() {
        @Override
        public VirtualTime world() {
            return world;
        }

        @Override
        public TimeSource time() {
            return world;
        }

        @Override
        public void deliver(Runnable event) {
            event.run();
        }

        @Override
        public SplittableRandom random() {
            return random;
        }

        @Override
        public SimNetwork network() {
            return network;
        }
    });
    private final LockStore store = process.store();

    private <T> T get(CompletionStage<T> stage) {
        CompletableFuture<T> future = stage.toCompletableFuture();
        world.advance(Duration.ofMillis(200));
        assertThat(future).isDone();
        return future.join();
    }

    private static AcquireRequest request(String id, long leaseMillis, boolean queue) {
        return new AcquireRequest("n", id, leaseMillis, queue, 200, 0);
    }

    /**
     * An acquire whose answer was lost is repeated, which lengthens the hold by a comparison; that is cut off, and
     * repeated. What was cut off may be executed after a longer renewal, and must not shorten that.
     */
    @Test
    void aLengtheningThatComesLateShortensNoRenewal() {
        server.executeLate(List.of("SET", "n", ID, "NX", "PX", "5000"));
        List<String> late = new ArrayList<>();
        server.cutAt(words -> words.indexOf("n") == 1 && words.contains("IFEQ") && late.addAll(words));
        assertThatThrownBy(() -> get(store.acquire(request(ID, 5_000, false))))
                .isInstanceOfSatisfying(
                        CompletionException.class,
                        failure -> assertThat(failure)
                                .cause()
                                .isInstanceOfSatisfying(
                                        StoreException.class,
                                        why -> assertThat(why.outcome()).isEqualTo(StoreException.Outcome.UNKNOWN)));
        server.cutAt(words -> false);
        assertThat(get(store.acquire(request(ID, 5_000, false)))).isInstanceOf(Granted.class);
        assertThat(get(store.renew(RenewRequest.extend("n", ID, 20_000, 0)))).isInstanceOf(Renewed.class);

        assertThat(late).contains("IFEQ", "5000");
        server.executeLate(late);
        assertThat((Long) server.executeLate(List.of("PTTL", "n"))).isGreaterThan(15_000);
        assertThat(get(store.abandon("n", ID))).isTrue();
        assertThat(process.left()).isEmpty();
    }

    /** Otherwise the channel stays subscribed to forever, and every holder of the name believes that somebody waits. */
    @Test
    void whoIsWithdrawnWhileItsAcquireIsUnderWayListensNoMore() {
        server.executeLate(List.of("SET", "n", "somebody", "PX", "5000"));
        CompletionStage<?> acquiring = store.acquire(request(ID, 5_000, true));
        assertThat(get(store.abandon("n", ID))).isFalse();
        assertThat(get(acquiring)).isInstanceOf(Busy.class);
        assertThat(process.left()).isEmpty();
        assertThat(server.executeLate(List.of("PUBSUB", "NUMSUB", RedisKeys.redissonChannel("n"))))
                .isEqualTo(List.of(RedisKeys.redissonChannel("n"), 0L));
    }

    /** The same for one that a release is to queue. */
    @Test
    void whoIsWithdrawnWhileAReleaseQueuesItListensNoMore() {
        assertThat(get(store.acquire(request(ID, 5_000, false)))).isInstanceOf(Granted.class);
        server.executeLate(List.of("SUBSCRIBE", RedisKeys.redissonChannel("n"))); // another waiting client
        AcquireRequest next = request("hf-me:2", 5_000, true);
        CompletionStage<ReleaseReply> releasing = store.release(ReleaseRequest.requeueing("n", ID, next));
        assertThat(get(store.abandon("n", "hf-me:2"))).isFalse();
        assertThat(get(releasing).requeued()).isInstanceOf(Busy.class);
        assertThat(process.left()).isEmpty();
    }
}
