package io.holdfast.memory;

import io.holdfast.spi.AcquireAllReply;
import io.holdfast.spi.AcquireReply;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.CardStore;
import io.holdfast.spi.ForceReply;
import io.holdfast.spi.HolderId;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.ReleaseReply;
import io.holdfast.spi.ReleaseRequest;
import io.holdfast.spi.RenewReply;
import io.holdfast.spi.RenewRequest;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreListener;
import io.holdfast.spi.StoreState;
import io.holdfast.spi.TimeSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One client's view of a store that lives in this process. Each command runs on the calling thread and its stage is
 * complete on return; the time source delivers messages.
 *
 * <pre>{@code
 * MemoryLockStore.Server server = new MemoryLockStore.Server(TimeSource.system());
 * LockClient one = LockClient.builder().store(server::connect).build();
 * LockClient two = LockClient.builder().store(server::connect).build();
 * try (Lease lease = one.acquire("order:42")) {
 *     assertThat(two.tryAcquire("order:42")).isEmpty();
 * }
 * }</pre>
 *
 * <p>Tokens grow for as long as the {@link Server} object lives.
 */
public final class MemoryLockStore implements LockStore {

    private final Server server;
    private final String clientId;
    private volatile @Nullable StoreListener listener;

    MemoryLockStore(Server server, String clientId) {
        this.server = server;
        this.clientId = clientId;
    }

    @Override
    public CompletionStage<AcquireReply> acquire(AcquireRequest request) {
        return server.execute(() -> server.name(request.name()).acquire(request));
    }

    @Override
    public boolean canAcquireAll(List<String> names) {
        return true;
    }

    @Override
    public CompletionStage<AcquireAllReply> acquireAll(List<AcquireRequest> requests) {
        return server.execute(() -> {
            for (AcquireRequest request : requests) {
                if (!server.name(request.name()).isFreeFor(request.holderId())) {
                    return AcquireAllReply.busy(request.name());
                }
            }
            List<AcquireReply.Granted> granted = new ArrayList<>();
            for (AcquireRequest request : requests) {
                granted.add((AcquireReply.Granted) server.name(request.name()).acquire(request));
            }
            return AcquireAllReply.taken(granted);
        });
    }

    @Override
    public CompletionStage<RenewReply> renew(RenewRequest request) {
        return server.execute(() -> server.name(request.name()).renew(request));
    }

    @Override
    public CompletionStage<ReleaseReply> release(ReleaseRequest request) {
        return server.execute(() -> server.name(request.name()).release(request));
    }

    @Override
    public CompletionStage<Boolean> abandon(String name, String holderId) {
        return server.execute(() -> server.name(name).abandon(holderId));
    }

    @Override
    public CompletionStage<StoreState> inspect(String name) {
        return server.execute(() -> server.name(name).inspect());
    }

    @Override
    public CompletionStage<ForceReply> forceRelease(String name, @Nullable String holder) {
        return server.execute(() -> server.name(name).forceRelease(holder));
    }

    @Override
    public Optional<CardStore> cards() {
        return Optional.of(new MemoryCards(server, clientId));
    }

    @Override
    public void listen(StoreListener listener) {
        this.listener = listener;
    }

    @Override
    public String describe() {
        return "memory";
    }

    @Override
    public void close() {
        listener = null;
        server.disconnect(clientId, this);
    }

    /** The shared state: what a server would be for a remote store. Thread-safe. */
    public static final class Server {

        /** With fewer names than this, free ones are not removed. */
        private static final int SWEEP_ABOVE = 1_000;

        private final TimeSource time;
        private final ReentrantLock lock = new ReentrantLock();
        private final Map<String, MemoryName> names = new HashMap<>(); // by lock; only names with a hold or a queue
        private final Map<String, MemoryLockStore> clients = new HashMap<>(); // by lock
        private final Map<String, MemoryCards.Card> cards = new HashMap<>(); // by lock
        private int sweepAbove = SWEEP_ABOVE; // by lock
        private long lastBase; // by lock; one for all names, so that a forgotten name cannot go back

        public Server(TimeSource time) {
            this.time = time;
        }

        /** Opens a client's view. */
        public LockStore connect(StoreContext context) {
            MemoryLockStore client = new MemoryLockStore(this, context.clientId());
            locked(() -> clients.put(context.clientId(), client));
            return client;
        }

        /** Returns how many names have a hold or a queue. */
        public int size() {
            return locked(() -> {
                sweep();
                return names.size();
            });
        }

        /** For tests: how many names have state here, needed or not. */
        int known() {
            return locked(names::size);
        }

        private void disconnect(String clientId, MemoryLockStore client) {
            locked(() -> clients.remove(clientId, client));
        }

        /** Runs a command on the cards; those whose time has passed are gone. */
        <T> CompletionStage<T> onCards(Function<Map<String, MemoryCards.Card>, T> command) {
            return CompletableFuture.completedFuture(locked(() -> {
                long now = nanoTime();
                cards.values().removeIf(card -> card.untilNanos() - now <= 0);
                return command.apply(cards);
            }));
        }

        private <T> CompletionStage<T> execute(Supplier<T> command) {
            return CompletableFuture.completedFuture(locked(command));
        }

        private <T extends @Nullable Object> T locked(Supplier<T> command) {
            lock.lock();
            try {
                return command.get();
            } finally {
                lock.unlock();
            }
        }

        private void sweep() {
            names.values().removeIf(MemoryName::isFree);
        }

        private MemoryName name(String name) {
            if (names.size() > sweepAbove) {
                sweep();
                // Not at each command while ten thousand names are held: it would be most of the work, and renewals
                // would come too late.
                sweepAbove = Math.max(SWEEP_ABOVE, 2 * names.size());
            }
            return names.computeIfAbsent(name, n -> new MemoryName(this, n));
        }

        long nanoTime() {
            return time.nanoTime();
        }

        /** Returns a new base: the clock in sixteenths of a millisecond, or the last base plus one. */
        long nextBase() {
            lastBase = Math.max(lastBase + 1, time.wallMillis() * 16);
            return lastBase;
        }

        /** Returns whether the client of a holder id is connected. */
        boolean isConnected(String holderId) {
            return client(holderId) != null;
        }

        /**
         * Sends a message to the client of a holder id, if it is connected. The time source delivers the message later:
         * the sender's caller may hold locks that the receiver needs.
         */
        void send(String holderId, Consumer<StoreListener> message) {
            MemoryLockStore client = client(holderId);
            if (client == null) {
                return;
            }
            time.schedule(0, () -> {
                StoreListener receiver = client.listener;
                if (receiver != null) {
                    message.accept(receiver);
                }
            });
        }

        private @Nullable MemoryLockStore client(String holderId) {
            return clients.get(HolderId.client(holderId));
        }
    }
}
