package io.holdfast.memory;

import io.holdfast.record.NameDecision;
import io.holdfast.record.NameMessage;
import io.holdfast.record.NameRecord;
import io.holdfast.spi.AcquireAllReply;
import io.holdfast.spi.AcquireReply;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.CardStore;
import io.holdfast.spi.ForceReply;
import io.holdfast.spi.HolderId;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.RecordStore;
import io.holdfast.spi.ReleaseReply;
import io.holdfast.spi.ReleaseRequest;
import io.holdfast.spi.RenewReply;
import io.holdfast.spi.RenewRequest;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreException;
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
    private final Names names;

    /** The view of the pools; null in that view. */
    private final @Nullable MemoryLockStore pools;

    volatile @Nullable StoreListener listener;

    private MemoryLockStore(Server server, String clientId, Names names, @Nullable MemoryLockStore pools) {
        this.server = server;
        this.clientId = clientId;
        this.names = names;
        this.pools = pools;
    }

    @Override
    public CompletionStage<AcquireReply> acquire(AcquireRequest request) {
        StoreException refusal = NameDecision.refusal(request, pools == null, describe());
        if (refusal != null) {
            return CompletableFuture.failedFuture(refusal);
        }
        return server.execute(() -> names.decide(request.name(), name -> name.acquire(request)));
    }

    @Override
    public boolean canAcquireAll(List<String> wanted) {
        return pools != null;
    }

    @Override
    public CompletionStage<AcquireAllReply> acquireAll(List<AcquireRequest> requests) {
        return server.execute(() -> {
            for (AcquireRequest request : requests) {
                if (!names.decide(request.name(), name -> name.isFreeFor(request.holderId()))) {
                    return AcquireAllReply.busy(request.name());
                }
            }
            List<AcquireReply.Granted> granted = new ArrayList<>();
            for (AcquireRequest request : requests) {
                granted.add((AcquireReply.Granted) names.decide(request.name(), name -> name.acquire(request)));
            }
            return AcquireAllReply.taken(granted);
        });
    }

    @Override
    public CompletionStage<RenewReply> renew(RenewRequest request) {
        return server.execute(() -> names.decide(request.name(), name -> name.renew(request)));
    }

    @Override
    public CompletionStage<ReleaseReply> release(ReleaseRequest request) {
        return server.execute(() -> names.decide(request.name(), name -> name.release(request)));
    }

    @Override
    public CompletionStage<Boolean> abandon(String name, String holderId) {
        return server.execute(() -> names.decide(name, decision -> decision.abandon(holderId)));
    }

    @Override
    public CompletionStage<StoreState> inspect(String name) {
        Function<NameDecision, StoreState> command =
                pools == null ? NameDecision::inspectPool : NameDecision::inspectLock;
        return server.execute(() -> names.decide(name, command));
    }

    @Override
    public CompletionStage<ForceReply> forceRelease(String name, @Nullable String holder) {
        return server.execute(() -> names.decide(name, decision -> decision.forceRelease(holder)));
    }

    @Override
    public Optional<CardStore> cards() {
        return pools == null ? Optional.empty() : Optional.of(new MemoryCards(server, clientId));
    }

    @Override
    public Optional<RecordStore> records() {
        return pools == null ? Optional.empty() : Optional.of(new MemoryRecords(server));
    }

    @Override
    public Optional<LockStore> pools() {
        return Optional.ofNullable(pools);
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
        if (pools != null) {
            disconnect();
            pools.disconnect();
        }
    }

    private void disconnect() {
        listener = null;
        server.execute(() -> names.clients.remove(clientId, this));
    }

    /** The names of the locks, or those of the pools. All fields are guarded by the lock of the server. */
    private static final class Names {

        /** With fewer names than this, free ones are not removed. */
        private static final int SWEEP_ABOVE = 1_000;

        private final Server server;

        /** Only names with a hold or a queue, except those whose last holder or waiter has died. */
        private final Map<String, NameRecord> records = new HashMap<>();

        final Map<String, MemoryLockStore> clients = new HashMap<>();
        private int sweepAbove = SWEEP_ABOVE;

        Names(Server server) {
            this.server = server;
        }

        <T> T decide(String name, Function<NameDecision, T> command) {
            NameRecord before = records.getOrDefault(name, NameRecord.FREE);
            NameDecision decision = new NameDecision(
                    name,
                    before,
                    server.time.nanoTime(),
                    server::nextBase,
                    holderId -> clients.containsKey(HolderId.client(holderId)));
            T reply = command.apply(decision);
            NameRecord after = decision.after();
            if (after.isEmpty()) {
                records.remove(name);
            } else {
                records.put(name, after);
                sweepIfMany();
            }
            decision.messages().forEach(this::send);
            return reply;
        }

        private void sweepIfMany() {
            if (records.size() > sweepAbove) {
                sweep();
                // Not at each command while ten thousand names are held: it would be most of the work, and renewals
                // would come too late.
                sweepAbove = Math.max(SWEEP_ABOVE, 2 * records.size());
            }
        }

        int sweep() {
            long now = server.time.nanoTime();
            records.values().removeIf(record -> record.isFree(now));
            return records.size();
        }

        /**
         * Sends a message to its client, if that is connected. The time source delivers the message later: the sender's
         * caller may hold locks that the receiver needs.
         */
        private void send(NameMessage message) {
            MemoryLockStore client = clients.get(message.client());
            if (client == null) {
                return;
            }
            server.time.schedule(0, () -> {
                StoreListener receiver = client.listener;
                if (receiver != null) {
                    message.deliver(receiver);
                }
            });
        }
    }

    /** The shared state: what a server would be for a remote store. Thread-safe. */
    public static final class Server {

        private final TimeSource time;
        private final ReentrantLock lock = new ReentrantLock();
        private final Names locks = new Names(this); // by lock
        private final Names pools = new Names(this); // by lock
        private final Map<String, MemoryCards.Card> cards = new HashMap<>(); // by lock
        private final MemoryRecords.Table records = new MemoryRecords.Table(); // by lock
        private long lastBase; // by lock; one for all names, so that a forgotten name cannot go back

        public Server(TimeSource time) {
            this.time = time;
        }

        /** Opens a client's view. */
        public LockStore connect(StoreContext context) {
            String id = context.clientId();
            MemoryLockStore poolView = new MemoryLockStore(this, id, pools, null);
            MemoryLockStore client = new MemoryLockStore(this, id, locks, poolView);
            locked(() -> {
                pools.clients.put(id, poolView);
                return locks.clients.put(id, client);
            });
            return client;
        }

        /** Returns how many names have a hold or a queue, locks and pools. */
        public int size() {
            return locked(() -> locks.sweep() + pools.sweep());
        }

        /** For tests: how many names have state here, needed or not. */
        int known() {
            return locked(() -> locks.records.size() + pools.records.size());
        }

        /** Runs a command on the cards; those whose time has passed are gone. */
        <T> CompletionStage<T> onCards(Function<Map<String, MemoryCards.Card>, T> command) {
            return CompletableFuture.completedFuture(locked(() -> {
                long now = nanoTime();
                cards.values().removeIf(card -> card.untilNanos() - now <= 0);
                return command.apply(cards);
            }));
        }

        /** Runs a command on the records. */
        <T> CompletionStage<T> onRecords(Function<MemoryRecords.Table, T> command) {
            return execute(() -> command.apply(records));
        }

        /** Called under the lock. */
        boolean isHeldBy(String lock, String holderId) {
            return holderId.equals(locks.decide(lock, NameDecision::inspectLock).holder());
        }

        private <T extends @Nullable Object> CompletionStage<T> execute(Supplier<T> command) {
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

        long nanoTime() {
            return time.nanoTime();
        }

        /** Returns a new base: the clock in sixteenths of a millisecond, or the last base plus one. */
        private long nextBase() {
            lastBase = Math.max(lastBase + 1, time.wallMillis() * 16);
            return lastBase;
        }
    }
}
