package io.holdfast.zookeeper;

import io.holdfast.spi.AcquireReply;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.CardStore;
import io.holdfast.spi.ForceReply;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.ReleaseReply;
import io.holdfast.spi.ReleaseRequest;
import io.holdfast.spi.RenewReply;
import io.holdfast.spi.RenewRequest;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreHealth;
import io.holdfast.spi.StoreListener;
import io.holdfast.spi.StoreState;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;

/**
 * The store on an ensemble, or its view of pools: finds the {@link Contender} for a command. Only this client uses its
 * holder ids, so an id that is not known here has no node.
 */
final class ZooKeeperLockStore implements LockStore, Contender.Registry {

    private record Key(String name, String holderId) {}

    private final ZooKeeperSettings settings;
    private final StoreAccess access;
    private final Onlooker onlooker;
    private final @Nullable CardStore cards; // null in the view of pools
    private final @Nullable ZooKeeperLockStore pools; // null in the view of pools
    private final Map<Key, Contender> contenders = new ConcurrentHashMap<>();
    private final LeftHolds left;
    private final AtomicBoolean closed = new AtomicBoolean();

    /** Makes a store that is not connected yet. */
    ZooKeeperLockStore(
            ZooKeeperSettings settings, StoreContext context, Connector connector, Supplier<SessionClock> clocks) {
        this.settings = settings;
        this.access = new StoreAccess(settings, context.time(), connector, clocks, this::sessionOver);
        this.onlooker = new Onlooker(access);
        this.cards = new ZooKeeperCards(access, settings.folder(), context.clientId());
        this.left = new LeftHolds(context.time(), this::abandon);
        this.pools = new ZooKeeperLockStore(settings, access.pools());
    }

    /** Makes the view of pools. */
    private ZooKeeperLockStore(ZooKeeperSettings settings, StoreAccess access) {
        this.settings = settings;
        this.access = access;
        this.onlooker = new Onlooker(access);
        this.cards = null;
        this.left = new LeftHolds(access.time(), this::abandon);
        this.pools = null;
    }

    static LockStore open(ZooKeeperSettings settings, StoreContext context) {
        ZooKeeperLockStore store = new ZooKeeperLockStore(
                settings, context, new CuratorConnector(settings), () -> new SessionClock(context.time()));
        try {
            Session session = store.access.connect();
            String probe = settings.folder() + "/" + NodeNames.encode("probe~" + context.clientId());
            store.access.await(Folder.make(session, settings.folder()));
            store.access.await(session.probe(probe).handle((made, error) -> {
                // The servers may remove a folder without locks between the two.
                if (error != null && !ZooKeeperErrors.is(error, Code.NONODE)) {
                    throw new CompletionException(error);
                }
                return true;
            }));
            return store;
        } catch (RuntimeException e) {
            store.close();
            throw e;
        }
    }

    @Override
    public CompletionStage<AcquireReply> acquire(AcquireRequest request) {
        int most = pools == null ? AcquireRequest.CAPACITY_MAX : 1;
        if (!request.isInRange(most)) {
            return CompletableFuture.failedFuture(access.errors().noShare(request, most));
        }
        return access.answer(
                () -> contender(folder(request.name()), request.holderId()).acquire(request));
    }

    @Override
    public CompletionStage<RenewReply> renew(RenewRequest request) {
        Contender contender = known(request.name(), request.holderId());
        return contender == null
                ? CompletableFuture.completedFuture(new RenewReply.Gone())
                : access.answer(() -> contender.renew(request));
    }

    @Override
    public CompletionStage<ReleaseReply> release(ReleaseRequest request) {
        Contender contender = known(request.name(), request.holderId());
        return contender == null
                ? CompletableFuture.completedFuture(ReleaseReply.notHeld())
                : access.answer(() -> contender.release(request));
    }

    @Override
    public CompletionStage<Boolean> abandon(String name, String holderId) {
        return access.answer(() -> abandonKnown(name, holderId));
    }

    @Override
    public CompletionStage<StoreState> inspect(String name) {
        return access.answer(() -> onlooker.inspect(folder(name), holderId -> {
            Contender own = known(name, holderId);
            return own == null ? 0 : own.remainingMillis();
        }));
    }

    @Override
    public CompletionStage<ForceReply> forceRelease(String name, @Nullable String holder) {
        return access.answer(() -> onlooker.forceRelease(folder(name), holder));
    }

    /** Shows the session even while there is no connection: the session and its holds may still live. */
    @Override
    public CompletionStage<StoreHealth> health(String name) {
        return inspect(name).handle((state, error) -> {
            Map<String, Object> details = new LinkedHashMap<>(access.describeSession());
            if (error != null) {
                details.put("error", String.valueOf(access.failure(error).getMessage()));
            }
            return new StoreHealth(error == null, details);
        });
    }

    @Override
    public Optional<CardStore> cards() {
        return Optional.ofNullable(cards);
    }

    @Override
    public Optional<LockStore> pools() {
        return Optional.ofNullable(pools);
    }

    @Override
    public void listen(StoreListener listener) {
        access.listen(listener);
    }

    @Override
    public Duration recovery() {
        return settings.recovery();
    }

    @Override
    public String describe() {
        return settings.describe();
    }

    @Override
    public void leave(String name, String holderId, BooleanSupplier inUse) {
        left.add(name, holderId, inUse);
    }

    /** Ends the session, at once or after the work under holds that were left. Does nothing in the view of pools. */
    @Override
    public void close() {
        ZooKeeperLockStore view = pools;
        if (view == null || !closed.compareAndSet(false, true)) {
            return;
        }
        stop();
        view.stop();
        if (left.isEmpty() && view.left.isEmpty()) {
            access.close();
        } else {
            left.whenNone(() -> view.left.whenNone(access::beginToClose));
        }
    }

    private void stop() {
        access.listen(null);
        contenders.values().forEach(Contender::stop);
    }

    @Override
    public String toString() {
        return describe();
    }

    // --- contenders ---

    @Override
    public Contender contender(Folder folder, String holderId) {
        return contenders.computeIfAbsent(
                new Key(folder.name(), holderId), key -> new Contender(access, this, folder, holderId));
    }

    @Override
    public CompletableFuture<Boolean> abandonKnown(String name, String holderId) {
        Contender contender = known(name, holderId);
        return contender == null ? CompletableFuture.completedFuture(false) : contender.abandon();
    }

    @Override
    public void remove(Folder folder, String holderId, Contender contender) {
        contenders.remove(new Key(folder.name(), holderId), contender);
    }

    Session session() {
        return access.session();
    }

    /** Returns how many holder ids have state here, also in the view of pools; for tests. */
    int size() {
        return contenders.size() + (pools == null ? 0 : pools.size());
    }

    private void sessionOver(long id) {
        contenders.values().forEach(contender -> contender.sessionOver(id));
        if (pools != null) {
            pools.sessionOver(id);
        }
    }

    private Folder folder(String name) {
        return pools == null ? Folder.ofPool(settings.folder(), name) : Folder.of(settings.folder(), name);
    }

    private @Nullable Contender known(String name, String holderId) {
        return contenders.get(new Key(name, holderId));
    }
}
