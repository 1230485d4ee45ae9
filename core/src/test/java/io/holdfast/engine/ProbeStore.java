package io.holdfast.engine;

import io.holdfast.spi.AcquireAllReply;
import io.holdfast.spi.AcquireReply;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.CardStore;
import io.holdfast.spi.ForceReply;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.PushedGrant;
import io.holdfast.spi.ReleaseReply;
import io.holdfast.spi.ReleaseRequest;
import io.holdfast.spi.RenewReply;
import io.holdfast.spi.RenewRequest;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.StoreListener;
import io.holdfast.spi.StoreState;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A store whose answers a test holds back, or replaces by failures, and which remembers what it was asked. */
public class ProbeStore implements LockStore {

    /** What happens to commands of one kind. */
    public enum Fate {
        /** Executed and answered. */
        PASS,
        /** Executed, but the answer waits until {@link #deliverReplies()}. */
        REPLY_HELD,
        /** Not executed before {@link #deliverRequests()}. */
        REQUEST_HELD,
        /** Never executed; fails with {@link #failure} at {@link #deliverRequests()}. */
        REQUEST_FAILS,
        /** Fails with {@link #failure}. */
        FAIL
    }

    public final LockStore server;

    /** The view of the pools; null if the store has none. */
    public final @Nullable ProbeStore pools;

    public final List<String> commands = new CopyOnWriteArrayList<>();
    public final List<RenewRequest> renewals = new CopyOnWriteArrayList<>();

    /** Acquires, also those of releases that queue again. */
    public final List<AcquireRequest> requests = new CopyOnWriteArrayList<>();

    public volatile Fate acquires = Fate.PASS;
    public volatile Fate renews = Fate.PASS;
    public volatile Fate releases = Fate.PASS;
    public volatile Fate abandons = Fate.PASS;
    public volatile Fate forces = Fate.PASS;
    public volatile boolean messages = true;

    /** If set, in place of the server's. */
    public volatile @Nullable CardStore cards;

    /** Whether several names are taken by one command. */
    public volatile boolean together;

    /** Whether a grant's message says since when. */
    public volatile boolean details;

    /** The last grant that the store pushed, delivered or not. */
    public volatile @Nullable PushedGrant pushed;

    public volatile StoreException failure =
            new StoreException(StoreException.Outcome.NOT_EXECUTED, "store: down", null);
    public volatile @Nullable StoreListener listener;
    private volatile String lastHolderId = "";
    private final List<Runnable> heldReplies = new ArrayList<>();
    private final List<Runnable> heldRequests = new ArrayList<>();

    public ProbeStore(LockStore server) {
        this.server = server;
        this.pools = server.pools().map(ProbeStore::new).orElse(null);
    }

    @Override
    public Optional<LockStore> pools() {
        return Optional.ofNullable(pools);
    }

    @Override
    public CompletionStage<AcquireReply> acquire(AcquireRequest request) {
        lastHolderId = request.holderId();
        requests.add(request);
        return command("acquire", acquires, () -> server.acquire(request));
    }

    @Override
    public boolean canAcquireAll(List<String> names) {
        return together;
    }

    @Override
    public CompletionStage<AcquireAllReply> acquireAll(List<AcquireRequest> requests) {
        return command("together", acquires, () -> server.acquireAll(requests));
    }

    @Override
    public CompletionStage<RenewReply> renew(RenewRequest request) {
        renewals.add(request);
        return command("renew", renews, () -> server.renew(request));
    }

    @Override
    public CompletionStage<ReleaseReply> release(ReleaseRequest request) {
        if (request.requeue() != null) {
            requests.add(request.requeue());
        }
        return command(request.requeue() == null ? "release" : "requeue", releases, () -> server.release(request));
    }

    @Override
    public CompletionStage<Boolean> abandon(String name, String holderId) {
        return command("abandon", abandons, () -> server.abandon(name, holderId));
    }

    @Override
    public CompletionStage<StoreState> inspect(String name) {
        return command("inspect", Fate.PASS, () -> server.inspect(name));
    }

    @Override
    public CompletionStage<ForceReply> forceRelease(String name, @Nullable String holder) {
        return command("force", forces, () -> server.forceRelease(name, holder));
    }

    @Override
    public Optional<CardStore> cards() {
        return cards == null ? server.cards() : Optional.of(cards);
    }

    @Override
    public void listen(StoreListener receiver) {
        listener = receiver;
        server.listen(new StoreListener() {
            @Override
            public void granted(String name, String holderId) {
                if (messages) {
                    receiver.granted(name, holderId);
                }
            }

            @Override
            public void granted(PushedGrant grant) {
                pushed = grant;
                if (messages && details) {
                    receiver.granted(grant);
                } else {
                    granted(grant.name(), grant.holderId());
                }
            }

            @Override
            public void contended(String name, String holderId) {
                if (messages) {
                    receiver.contended(name, holderId);
                }
            }

            @Override
            public void forced(String name, String holderId) {
                if (messages) {
                    receiver.forced(name, holderId);
                }
            }

            @Override
            public void released(String name) {
                receiver.released(name);
            }

            @Override
            public void connecting() {
                receiver.connecting();
            }

            @Override
            public void reconnected() {
                receiver.reconnected();
            }
        });
    }

    @Override
    public String describe() {
        return "probe";
    }

    @Override
    public void close() {
        server.close();
    }

    /** Of the last acquire that arrived here. */
    public String lastHolderId() {
        return lastHolderId;
    }

    public long count(String command) {
        return commands.stream().filter(command::equals).count();
    }

    public void deliverReplies() {
        run(heldReplies);
    }

    public void deliverRequests() {
        run(heldRequests);
    }

    private static void run(List<Runnable> held) {
        List<Runnable> now = new ArrayList<>(held);
        held.clear();
        now.forEach(Runnable::run);
    }

    private <T> CompletionStage<T> command(String kind, Fate fate, Supplier<CompletionStage<T>> command) {
        commands.add(kind);
        CompletableFuture<T> reply = new CompletableFuture<>();
        switch (fate) {
            case PASS -> {
                return command.get();
            }
            case FAIL -> reply.completeExceptionally(failure);
            case REQUEST_FAILS -> heldRequests.add(() -> reply.completeExceptionally(failure));
            case REPLY_HELD -> {
                T answer = command.get().toCompletableFuture().join();
                heldReplies.add(() -> reply.complete(answer));
            }
            case REQUEST_HELD ->
                heldRequests.add(
                        () -> reply.complete(command.get().toCompletableFuture().join()));
        }
        return reply;
    }
}
