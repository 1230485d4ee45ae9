package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.holdfast.LockClient;
import io.holdfast.redis.lua.LuaLockStore;
import io.holdfast.spi.AcquireReply;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.HolderId;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.ReleaseReply;
import io.holdfast.spi.ReleaseRequest;
import io.holdfast.spi.RenewReply;
import io.holdfast.spi.RenewRequest;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.StoreListener;
import io.holdfast.spi.StoreState;
import io.holdfast.spi.TimeSource;
import java.net.URI;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;

/** A client of the store as the engine is one: with an id, holder ids, and a listener; calls wait for their answers. */
public final class TestClient implements AutoCloseable, StoreListener {

    static final long POLL_MILLIS = 1_000;

    /** A message comes or does not: this client never asks by itself, so how slow the machine is must not matter. */
    private static final long AWAIT_AT_LEAST_MILLIS = 10_000;

    final String id;
    public final LockStore store;
    public final BlockingQueue<String> messages = new LinkedBlockingQueue<>();
    /** As after a reconnect, numbers begin anywhere: these have letters in the holder id. */
    private final AtomicInteger numbers = new AtomicInteger(13_370);

    /** Opens a store whose keys are the names, unless the URI has a prefix: most tests look at the keys. */
    public TestClient(String uri) {
        this(context -> new RedisLockStoreProvider().open(URI.create(byName(uri)), context));
    }

    /** A URI with an empty name prefix, unless it has one. */
    static String byName(String uri) {
        return uri.contains("namePrefix=") ? uri : with(uri, "namePrefix=");
    }

    static String with(String uri, String option) {
        int end = uri.indexOf('#') < 0 ? uri.length() : uri.indexOf('#');
        return uri.substring(0, end) + (uri.contains("?") ? "&" : "?") + option + uri.substring(end);
    }

    public TestClient(Function<StoreContext, LockStore> opener) {
        this(newId(), opener);
    }

    public TestClient(String id, Function<StoreContext, LockStore> opener) {
        this.id = id;
        store = opener.apply(new StoreContext(id, TimeSource.system()));
        store.listen(this);
    }

    /** The store that takes keys for names. */
    public LockStore below() {
        return ((KeyedStore) store).below();
    }

    static String newId() {
        return "hf-" + UUID.randomUUID().toString().replace("-", "").substring(0, 22);
    }

    public String newHolder() {
        return HolderId.of(id, numbers.incrementAndGet());
    }

    public AcquireRequest request(String name, String holder, long leaseMillis, boolean queue) {
        return new AcquireRequest(name, holder, leaseMillis, queue, POLL_MILLIS, 0);
    }

    public AcquireReply acquire(String name, String holder, long leaseMillis, boolean queue) {
        return get(store.acquire(request(name, holder, leaseMillis, queue)));
    }

    /** Acquires with a long lease and a new holder id; fails if somebody else holds the name. */
    public String hold(String name) {
        String holder = newHolder();
        assertThat(acquire(name, holder, 30_000, false)).isInstanceOf(AcquireReply.Granted.class);
        return holder;
    }

    /** Waits in the queue under a new holder id; fails if the name is free. */
    public String queue(String name) {
        String holder = newHolder();
        assertThat(acquire(name, holder, 30_000, true)).isInstanceOf(AcquireReply.Busy.class);
        return holder;
    }

    public RenewReply renew(String name, String holder, long leaseMillis) {
        return renew(name, holder, leaseMillis, 0, false);
    }

    public RenewReply renew(String name, String holder, long leaseMillis, long sequence, boolean exact) {
        return get(store.renew(new RenewRequest(name, holder, leaseMillis, sequence, exact, true)));
    }

    /** One stage for each request; they are sent together. */
    public List<CompletionStage<RenewReply>> renewAll(List<RenewRequest> requests) {
        List<CompletableFuture<RenewReply>> replies = requests.stream()
                .map(each -> new CompletableFuture<RenewReply>())
                .toList();
        store.renewAll(requests, (index, reply, error) -> {
            if (error == null) {
                replies.get(index).complete(reply);
            } else {
                replies.get(index).completeExceptionally(error);
            }
        });
        return List.copyOf(replies);
    }

    public boolean release(String name, String holder) {
        return get(store.release(ReleaseRequest.of(name, holder))).wasHeld();
    }

    public ReleaseReply releaseAndRequeue(String name, String holder, String next) {
        return get(store.release(ReleaseRequest.requeueing(name, holder, request(name, next, 30_000, true))));
    }

    public boolean abandon(String name, String holder) {
        return get(store.abandon(name, holder));
    }

    public StoreState inspect(String name) {
        return get(store.inspect(name));
    }

    /** Connects a client in mode {@code lua} whose keys are the names, and shows its store. */
    static LockClient connect(String uri, AtomicReference<LuaLockStore> shown) {
        return LockClient.builder()
                .store(context -> {
                    KeyedStore store = (KeyedStore) new RedisLockStoreProvider().open(URI.create(byName(uri)), context);
                    shown.set((LuaLockStore) store.below());
                    return store;
                })
                .build();
    }

    /**
     * Closes a client. Skips the rest of the test if the close did not wait for all answers of the store, because the
     * machine took longer than that wait may last.
     */
    static void closeInTime(LockClient client) {
        long began = System.nanoTime();
        client.close();
        assumeTrue(System.nanoTime() - began < 2_000_000_000L, "the close took too long");
    }

    /** Waits for this very message, skipping others, for at least ten seconds. */
    public void await(String message, long millis) {
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(Math.max(millis, AWAIT_AT_LEAST_MILLIS));
        try {
            while (true) {
                String next = messages.poll(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS);
                assertThat(next).as("waiting for \"%s\"", message).isNotNull();
                if (message.equals(next)) {
                    return;
                }
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** The answer, within ten seconds; the failure as it was. */
    public static <T> T get(CompletionStage<T> stage) {
        try {
            return stage.toCompletableFuture().get(10, TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RuntimeException cause) {
                throw cause;
            }
            throw new AssertionError(e);
        } catch (InterruptedException | TimeoutException e) {
            throw new AssertionError("no answer", e);
        }
    }

    public static StoreException failure(CompletionStage<?> stage) {
        try {
            Object answer = get(stage);
            throw new AssertionError("answered " + answer);
        } catch (StoreException e) {
            return e;
        }
    }

    @Override
    public void granted(String name, String holderId) {
        messages.add("granted " + name + " " + holderId);
    }

    @Override
    public void contended(String name, String holderId) {
        messages.add("contended " + name + " " + holderId);
    }

    @Override
    public void released(String name) {
        messages.add("released " + name);
    }

    @Override
    public void reconnected() {
        messages.add("reconnected");
    }

    @Override
    public void close() {
        store.close();
    }
}
