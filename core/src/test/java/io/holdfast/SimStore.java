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
import io.holdfast.spi.StoreException.Outcome;
import io.holdfast.spi.StoreListener;
import io.holdfast.spi.StoreState;
import io.holdfast.spi.TogetherReply;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The store of one simulated process: a {@link SimServer} at the other end of a bad network. Requests, replies and
 * messages are delayed (so also reordered), lost and doubled; the connection breaks at every point of a command that
 * matters. A command without an answer in time fails with an unknown outcome, and may still be executed later.
 */
final class SimStore implements LockStore {

    static final long COMMAND_TIMEOUT_NANOS = 500_000_000;
    private static final long RECONNECT_NANOS = 50_000_000;

    /** Where the connection of a command ends. */
    private enum Cut {
        NOWHERE,
        BEFORE_THE_SENDING,
        BEFORE_THE_EXECUTION,
        BEFORE_THE_REPLY
    }

    private final SimServer server;
    private final VirtualTime world;
    private final SimTime process;
    private final Weather weather;
    private final SplittableRandom random;
    private final Map<Long, CompletableFuture<?>> inFlight = new TreeMap<>();
    private long commands;
    private @Nullable StoreListener listener;

    /** False from a break to the next successful connection. */
    private boolean connected = true;

    private long connectedSinceNanos = PushedGrant.ALWAYS;

    /** Whether the server finds a receiver for this client's messages. A vanished machine keeps its subscription. */
    private boolean listening = true;

    /** An estimate of the server's clock, as the Redis store's: its time in the last reply. */
    private long serverOffsetNanos;

    /** Fault of the client side, for tests: commands to abandon go nowhere. */
    boolean losesAbandons;

    SimStore(SimServer server, VirtualTime world, SimTime process, Weather weather, SplittableRandom random) {
        this.server = server;
        this.world = world;
        this.process = process;
        this.weather = weather;
        this.random = random;
        observe();
    }

    boolean isListening() {
        return listening;
    }

    /** No command is under way. */
    boolean isQuiet() {
        return inFlight.isEmpty();
    }

    /** The process has ended; with its machine: then the server does not notice. */
    void die(boolean silently) {
        listening = silently;
    }

    void breakConnection() {
        if (!connected) {
            return;
        }
        connected = false;
        listening = listening && process.isDead();
        for (long command : List.copyOf(inFlight.keySet())) {
            process.schedule(0, () -> fail(command, Outcome.UNKNOWN, "the connection broke"));
        }
        reconnectLater();
    }

    private void reconnectLater() {
        world.schedule(1 + random.nextLong(RECONNECT_NANOS), () -> {
            if (server.isDown()) {
                reconnectLater();
            } else if (!process.isDead()) {
                connected = true;
                connectedSinceNanos = process.nanoTime();
                // Confirmed later than commands work: messages may be missed until then.
                world.schedule(random.nextLong(RECONNECT_NANOS), () -> {
                    listening = connected;
                    message(StoreListener::reconnected);
                });
            }
        });
    }

    /** Askings that were sent before the present connection may have been stamped by another server's clock. */
    void granted(String name, PushedGrant grant) {
        message(listener -> listener.granted(new PushedGrant(
                name,
                grant.holderId(),
                grant.base(),
                grant.waiting(),
                grant.leaseMillis(),
                grant.repetition(),
                grant.sinceAskingMillis(),
                connectedSinceNanos)));
    }

    /** Something the server tells this client. */
    void message(Consumer<StoreListener> message) {
        travel(() -> process.deliver(() -> {
            StoreListener receiver = listener;
            if (receiver != null && connected) {
                message.accept(receiver);
            }
        }));
    }

    @Override
    public CompletionStage<AcquireReply> acquire(AcquireRequest request) {
        long notAfter = notAfter();
        return send(() -> server.execute(
                request.name(), (name, messages) -> name.acquire(request, notAfter, server.now(), messages)));
    }

    @Override
    public boolean takesTogether(List<String> names) {
        return true;
    }

    @Override
    public CompletionStage<TogetherReply> acquireTogether(List<AcquireRequest> requests) {
        long notAfter = notAfter();
        return send(() -> server.acquireTogether(requests, notAfter));
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
    public CompletionStage<Boolean> forceRelease(String name) {
        return send(() -> server.execute(name, (state, messages) -> state.forceRelease(server.now(), messages)));
    }

    @Override
    public Duration lateness() {
        return Duration.ofNanos(COMMAND_TIMEOUT_NANOS);
    }

    @Override
    public void listen(StoreListener receiver) {
        listener = receiver;
    }

    @Override
    public String describe() {
        return "simulation";
    }

    @Override
    public void close() {
        listener = null;
    }

    /** The command returns null if the server found it too late. */
    private <T> CompletionStage<T> send(Supplier<@Nullable T> command) {
        CompletableFuture<T> reply = new CompletableFuture<>();
        Cut cut = random.nextDouble() < weather.cuts ? Cut.values()[1 + random.nextInt(3)] : Cut.NOWHERE;
        if (!connected || cut == Cut.BEFORE_THE_SENDING) {
            StoreException refused = new StoreException(Outcome.NOT_EXECUTED, "not connected", null);
            if (random.nextBoolean()) {
                return CompletableFuture.failedFuture(refused);
            }
            process.schedule(0, () -> reply.completeExceptionally(refused));
            return reply;
        }
        long number = commands++;
        inFlight.put(number, reply);
        process.schedule(COMMAND_TIMEOUT_NANOS, () -> fail(number, Outcome.UNKNOWN, "no answer in time"));
        if (cut != Cut.NOWHERE) {
            process.schedule(random.nextLong(weather.delayNanosMax), () -> fail(number, Outcome.UNKNOWN, "cut " + cut));
        }
        if (cut != Cut.BEFORE_THE_EXECUTION || weather.executesWhatWasCut) {
            travel(() -> {
                if (!server.isDown()) {
                    execute(command, number, reply, cut == Cut.NOWHERE);
                }
            });
        }
        return reply;
    }

    private <T> void execute(Supplier<@Nullable T> command, long number, CompletableFuture<T> reply, boolean answered) {
        T answer = command.get();
        long executed = server.now();
        if (!answered) {
            return;
        }
        travel(() -> process.deliver(() -> {
            if (!connected || inFlight.remove(number) == null) {
                return;
            }
            serverOffsetNanos = executed - process.nanoTime();
            if (answer == null) {
                reply.completeExceptionally(new StoreException(Outcome.NOT_EXECUTED, "executed too late", null));
            } else {
                reply.complete(answer);
            }
        }));
    }

    private void fail(long number, Outcome outcome, String why) {
        CompletableFuture<?> reply = inFlight.remove(number);
        if (reply != null) {
            reply.completeExceptionally(new StoreException(outcome, why, null));
        }
    }

    private void observe() {
        serverOffsetNanos = server.now() - process.nanoTime();
    }

    private long notAfter() {
        return process.nanoTime() + serverOffsetNanos + COMMAND_TIMEOUT_NANOS;
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
