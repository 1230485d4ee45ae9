package io.holdfast.verify.redis;

import io.holdfast.engine.PoolBug;
import io.holdfast.memory.VirtualTime;
import io.holdfast.spi.AcquireAllReply;
import io.holdfast.spi.AcquireReply;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.ForceReply;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.PushedGrant;
import io.holdfast.spi.ReleaseReply;
import io.holdfast.spi.ReleaseRequest;
import io.holdfast.spi.RenewReply;
import io.holdfast.spi.RenewRequest;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.StoreException.Outcome;
import io.holdfast.spi.StoreListener;
import io.holdfast.spi.StoreState;
import io.holdfast.verify.engine.SimLine;
import io.holdfast.verify.engine.SimSite;
import io.holdfast.verify.engine.SimTime;
import io.holdfast.verify.engine.Simulation;
import io.holdfast.verify.engine.Weather;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The store of one simulated process: a {@link SimServer} at the other end of a {@link SimLine}. */
final class SimStore implements LockStore, SimSite.Link, SimLine.Listener {

    private final StoreException tooLate = new StoreException(Outcome.NOT_EXECUTED, "executed too late", null);

    private final SimServer server;
    private final SimTime process;
    private final Weather weather;
    private final SimLine line;
    private @Nullable StoreListener listener;
    private final SimPools pools;
    private long connectedSinceNanos = PushedGrant.ALWAYS;

    /** An estimate of the server's clock, as the Redis store's: its time in the last reply, and when that came. */
    private long serverOffsetNanos;

    private long observedNanos;

    /** Fault of the client side, for tests: commands to abandon go nowhere. */
    private final boolean losesAbandons;

    /** Whether an acquire that may queue takes several commands, so that its withdrawal overtakes it. */
    private final boolean inSteps;

    SimStore(
            SimServer server,
            VirtualTime world,
            SimTime process,
            Weather weather,
            SplittableRandom random,
            boolean losesAbandons,
            PoolBug poolBug,
            boolean inSteps) {
        this.server = server;
        this.process = process;
        this.weather = weather;
        this.losesAbandons = losesAbandons;
        this.inSteps = inSteps;
        this.pools = new SimPools(this, poolBug);
        this.line = new SimLine(world, process, server, weather, random, this);
        observe(server.now());
    }

    private void observe(long serverNanos) {
        observedNanos = process.nanoTime();
        serverOffsetNanos = serverNanos - observedNanos;
    }

    // --- the connection ---

    @Override
    public LockStore store() {
        return this;
    }

    boolean isListening() {
        return line.isListening();
    }

    @Override
    public boolean isQuiet() {
        return line.isQuiet();
    }

    @Override
    public void die(boolean silently) {
        line.die(silently);
    }

    @Override
    public void breakConnection() {
        line.breakConnection();
    }

    @Override
    public void cutOff(long nanos) {
        line.cutOff(nanos);
    }

    @Override
    public String left() {
        return "";
    }

    @Override
    public void connected() {
        connectedSinceNanos = process.nanoTime();
    }

    @Override
    public void listensAgain() {
        message("", receiver -> {
            receiver.reconnected();
            StoreListener ofPools = pools.listener;
            if (ofPools != null) {
                ofPools.reconnected();
            }
        });
    }

    @Override
    public void deaf() {}

    /** Askings that were sent before the present connection may have been stamped by another server's clock. */
    void granted(String name, PushedGrant grant) {
        message(
                name,
                listener -> listener.granted(new PushedGrant(
                        name,
                        grant.holderId(),
                        grant.base(),
                        grant.waiting(),
                        grant.leaseMillis(),
                        grant.nonce(),
                        grant.sinceAskingMillis(),
                        connectedSinceNanos)));
    }

    /** Something the server tells this client. */
    void message(String name, Consumer<StoreListener> message) {
        line.message(() -> {
            StoreListener receiver = Simulation.isPool(name) ? pools.listener : listener;
            if (receiver != null) {
                message.accept(receiver);
            }
        });
    }

    // --- the store ---

    /**
     * In steps, as the Redis store does while its client does not listen: asks for no place in the queue, subscribes, and
     * asks again.
     */
    @Override
    public CompletionStage<AcquireReply> acquire(AcquireRequest request) {
        return !inSteps || !request.queue()
                ? acquireNow(request)
                : acquireNow(request.unqueued())
                        .thenCompose(reply -> reply instanceof AcquireReply.Granted
                                ? CompletableFuture.completedFuture(reply)
                                : send(() -> true).handle((ok, error) -> true).thenCompose(ok -> acquireNow(request)));
    }

    private CompletionStage<AcquireReply> acquireNow(AcquireRequest request) {
        long notAfter = notAfter();
        return watched(
                List.of(request),
                send(() -> server.execute(
                        request.name(), (name, messages) -> name.acquire(request, notAfter, server.now(), messages))));
    }

    /** What was asked for on a connection that ended may be executed when it was released by another command. */
    private <T> CompletionStage<T> watched(List<AcquireRequest> requests, CompletionStage<T> reply) {
        return reply.whenComplete((answer, error) -> {
            if (error != null && line.mayBeUnderWay(error)) {
                requests.forEach(request -> server.mayComeBack(request.name(), request.holderId()));
            }
        });
    }

    @Override
    public boolean canAcquireAll(List<String> names) {
        return true;
    }

    @Override
    public CompletionStage<AcquireAllReply> acquireAll(List<AcquireRequest> requests) {
        long notAfter = notAfter();
        return watched(requests, send(() -> server.acquireAll(requests, notAfter)));
    }

    @Override
    public CompletionStage<RenewReply> renew(RenewRequest request) {
        return send(() -> server.execute(request.name(), (name, messages) -> name.renew(request, server.now())));
    }

    @Override
    public CompletionStage<ReleaseReply> release(ReleaseRequest request) {
        long notAfter = notAfter();
        CompletionStage<ReleaseReply> reply = send(() -> server.execute(
                request.name(), (name, messages) -> name.release(request, notAfter, server.now(), messages)));
        if (!weather.bringsBack) {
            AcquireRequest requeue = request.requeue();
            reply = watched(requeue == null ? List.of() : List.of(requeue), reply);
            reply.whenComplete((answer, error) -> {
                if (error == null && answer.wasHeld()) {
                    server.released(request.name(), request.holderId());
                }
            });
        }
        return reply;
    }

    @Override
    public CompletionStage<Boolean> abandon(String name, String holderId) {
        if (losesAbandons) {
            return CompletableFuture.completedFuture(true);
        }
        return send(() -> server.execute(name, (state, messages) -> state.abandon(holderId, server.now(), messages)));
    }

    @Override
    public CompletionStage<StoreState> inspect(String name) {
        return send(() -> server.execute(name, (state, messages) -> state.inspect(server.now())));
    }

    @Override
    public CompletionStage<ForceReply> forceRelease(String name, @Nullable String holder) {
        return send(
                () -> server.execute(name, (state, messages) -> state.forceRelease(holder, server.now(), messages)));
    }

    @Override
    public Duration lateness() {
        return Duration.ofNanos(SimLine.COMMAND_TIMEOUT_NANOS);
    }

    @Override
    public void listen(StoreListener receiver) {
        listener = receiver;
    }

    @Override
    public Optional<LockStore> pools() {
        return Optional.of(pools);
    }

    @Override
    public String describe() {
        return "simulation";
    }

    @Override
    public void close() {
        listener = null;
    }

    /** What a command came to, and when; no answer if the server found it too late. */
    private record Executed<T>(@Nullable T answer, long serverNanos) {}

    private <T> CompletionStage<T> send(Supplier<@Nullable T> command) {
        CompletableFuture<T> reply = new CompletableFuture<>();
        line.send(() -> new Executed<>(command.get(), server.now())).whenComplete((executed, error) -> {
            if (error != null) {
                reply.completeExceptionally(error);
                return;
            }
            observe(executed.serverNanos());
            T answer = executed.answer();
            if (answer == null) {
                reply.completeExceptionally(tooLate);
            } else {
                reply.complete(answer);
            }
        });
        return reply;
    }

    private long notAfter() {
        long drift = Math.min((process.nanoTime() - observedNanos) / 100, SimLine.COMMAND_TIMEOUT_NANOS / 2);
        return process.nanoTime() + serverOffsetNanos + SimLine.COMMAND_TIMEOUT_NANOS - drift;
    }
}
