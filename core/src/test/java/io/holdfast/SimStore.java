package io.holdfast;

import io.holdfast.memory.VirtualTime;
import io.holdfast.spi.AcquireReply;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.PushedGrant;
import io.holdfast.spi.ReleaseReply;
import io.holdfast.spi.ReleaseRequest;
import io.holdfast.spi.RenewReply;
import io.holdfast.spi.RenewRequest;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.StoreListener;
import io.holdfast.spi.StoreState;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

/**
 * A store at the other end of a bad network: requests, replies and messages are delayed (so also reordered), lost and
 * doubled. A command without an answer in time fails with an unknown outcome, and may still be executed later.
 */
final class SimStore implements LockStore {

    /** How bad the network is. */
    static final class Weather {
        double loss;
        double duplicates;
        long delayNanosMax;

        static Weather fine() {
            Weather weather = new Weather();
            weather.delayNanosMax = 1_000_000;
            return weather;
        }

        void becomeFine() {
            loss = 0;
            duplicates = 0;
            delayNanosMax = 1_000_000;
        }
    }

    static final long COMMAND_TIMEOUT_NANOS = 500_000_000;

    private final LockStore server;
    private final VirtualTime world;
    private final SimTime process;
    private final Weather weather;
    private final SplittableRandom random;

    SimStore(LockStore server, VirtualTime world, SimTime process, Weather weather, SplittableRandom random) {
        this.server = server;
        this.world = world;
        this.process = process;
        this.weather = weather;
        this.random = random;
    }

    @Override
    public CompletionStage<AcquireReply> acquire(AcquireRequest request) {
        return send(() -> server.acquire(request));
    }

    @Override
    public CompletionStage<RenewReply> renew(RenewRequest request) {
        return send(() -> server.renew(request));
    }

    @Override
    public CompletionStage<ReleaseReply> release(ReleaseRequest request) {
        return send(() -> server.release(request));
    }

    @Override
    public CompletionStage<Boolean> abandon(String name, String holderId) {
        return send(() -> server.abandon(name, holderId));
    }

    @Override
    public CompletionStage<StoreState> inspect(String name) {
        return send(() -> server.inspect(name));
    }

    @Override
    public CompletionStage<Boolean> forceRelease(String name) {
        return send(() -> server.forceRelease(name));
    }

    @Override
    public void listen(StoreListener listener) {
        server.listen(new StoreListener() {
            @Override
            public void granted(String name, String holderId) {
                travel(() -> process.deliver(() -> listener.granted(name, holderId)));
            }

            @Override
            public void granted(PushedGrant grant) {
                travel(() -> process.deliver(() -> listener.granted(grant)));
            }

            @Override
            public void contended(String name, String holderId) {
                travel(() -> process.deliver(() -> listener.contended(name, holderId)));
            }

            @Override
            public void released(String name) {
                travel(() -> process.deliver(() -> listener.released(name)));
            }

            @Override
            public void reconnected() {
                travel(() -> process.deliver(listener::reconnected));
            }
        });
    }

    @Override
    public String describe() {
        return "simulation";
    }

    @Override
    public void close() {
        server.close();
    }

    private <T> CompletionStage<T> send(Supplier<CompletionStage<T>> command) {
        CompletableFuture<T> reply = new CompletableFuture<>();
        process.schedule(
                COMMAND_TIMEOUT_NANOS,
                () -> reply.completeExceptionally(
                        new StoreException(StoreException.Outcome.UNKNOWN, "no answer in time", null)));
        travel(() -> command.get()
                .whenComplete((answer, error) -> travel(() -> process.deliver(() -> {
                    if (error != null) {
                        reply.completeExceptionally(error);
                    } else {
                        reply.complete(answer);
                    }
                }))));
        return reply;
    }

    /** One way through the network: lost, or late, or late twice. */
    private void travel(Runnable arrival) {
        int copies = random.nextDouble() < weather.duplicates ? 2 : 1;
        for (int i = 0; i < copies; i++) {
            if (random.nextDouble() >= weather.loss) {
                world.schedule(random.nextLong(weather.delayNanosMax), arrival);
            }
        }
    }
}
