package io.holdfast.testkit.contract;

import io.holdfast.spi.AcquireReply;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.ForceReply;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.ReleaseReply;
import io.holdfast.spi.ReleaseRequest;
import io.holdfast.spi.RenewReply;
import io.holdfast.spi.RenewRequest;
import io.holdfast.spi.StoreState;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A client of a store, as the engine is one, for the contract: it has an id, makes holder ids and listens; its calls
 * wait for the answer. It opens its view of the store at its first command. Thread-safe.
 */
final class StoreClient implements AutoCloseable {

    private static final long REPLY_SECONDS = 20;

    final String id = "hf-" + UUID.randomUUID().toString().replace("-", "").substring(0, 22);
    final RecordingListener listener = new RecordingListener();
    private final Function<String, LockStore> opener;
    private final UnaryOperator<LockStore> view;
    private final AtomicLong ids = new AtomicLong();
    private final ReentrantLock opening = new ReentrantLock();
    private @Nullable LockStore opened; // by opening
    private @Nullable LockStore store; // by opening

    /**
     * @param opener opens the store for the client with the given id
     * @param view returns the part of the store that receives the commands
     */
    StoreClient(Function<String, LockStore> opener, UnaryOperator<LockStore> view) {
        this.opener = opener;
        this.view = view;
    }

    LockStore store() {
        opening.lock();
        try {
            if (store == null) {
                opened = opener.apply(id);
                LockStore part = view.apply(opened);
                part.listen(listener);
                store = part;
            }
            return store;
        } finally {
            opening.unlock();
        }
    }

    String newId() {
        return id + ":" + ids.incrementAndGet();
    }

    /** Asks once, without the queue. */
    AcquireReply take(String name, String holderId, Duration lease) {
        return get(store().acquire(AcquireRequest.once(name, holderId, lease.toMillis())));
    }

    AcquireReply queue(String name, String holderId, Duration lease, Duration poll) {
        return get(store().acquire(queueing(name, holderId, lease, poll)));
    }

    static AcquireRequest queueing(String name, String holderId, Duration lease, Duration poll) {
        return AcquireRequest.queueing(name, holderId, lease.toMillis(), poll.toMillis());
    }

    /** Asks a pool once, without the queue. */
    AcquireReply take(String name, String holderId, Duration lease, int weight, int capacity) {
        return get(store().acquire(
                        AcquireRequest.once(name, holderId, lease.toMillis()).weighing(weight, capacity)));
    }

    AcquireReply queue(String name, String holderId, Duration lease, Duration poll, int weight, int capacity) {
        return get(store().acquire(queueing(name, holderId, lease, poll).weighing(weight, capacity)));
    }

    RenewReply renew(String name, String holderId, Duration lease, long sequence) {
        return get(store().renew(RenewRequest.extend(name, holderId, lease.toMillis(), sequence)));
    }

    /** Sends renewals together. Returns the replies in the order of the requests. */
    List<RenewReply> renewAll(List<RenewRequest> requests) {
        List<CompletableFuture<RenewReply>> replies = requests.stream()
                .map(each -> new CompletableFuture<RenewReply>())
                .toList();
        store().renewAll(requests, (index, reply, error) -> {
            if (error == null) {
                replies.get(index).complete(reply);
            } else {
                replies.get(index).completeExceptionally(error);
            }
        });
        return replies.stream().map(StoreClient::get).toList();
    }

    RenewReply look(String name, String holderId, long sequence) {
        return get(store().renew(RenewRequest.look(name, holderId, sequence)));
    }

    RenewReply set(String name, String holderId, Duration lease, long sequence) {
        return get(store().renew(RenewRequest.set(name, holderId, lease.toMillis(), sequence)));
    }

    boolean release(String name, String holderId) {
        return get(store().release(ReleaseRequest.of(name, holderId))).wasHeld();
    }

    ReleaseReply releaseAndQueue(String name, String holderId, AcquireRequest again) {
        return get(store().release(ReleaseRequest.requeueing(name, holderId, again)));
    }

    boolean abandon(String name, String holderId) {
        return get(store().abandon(name, holderId));
    }

    /** @param holder the expected holder; null for whichever has the name */
    ForceReply forceRelease(String name, @Nullable String holder) {
        return get(store().forceRelease(name, holder));
    }

    /** Ends whatever hold there is on the name. */
    boolean forceRelease(String name) {
        return forceRelease(name, null).isEnded();
    }

    StoreState inspect(String name) {
        return get(store().inspect(name));
    }

    @Override
    public void close() {
        opening.lock();
        try {
            if (opened != null) {
                opened.close();
            }
        } finally {
            opening.unlock();
        }
    }

    static <T> T get(CompletionStage<T> stage) {
        try {
            return stage.toCompletableFuture().get(REPLY_SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            throw new AssertionError("the store failed: " + e.getCause(), e.getCause());
        } catch (TimeoutException e) {
            throw new AssertionError("no reply within " + REPLY_SECONDS + " s", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted", e);
        }
    }
}
