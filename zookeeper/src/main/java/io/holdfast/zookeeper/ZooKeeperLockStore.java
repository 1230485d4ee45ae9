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
import io.holdfast.spi.StoreException;
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
 * The store on an ensemble: finds the {@link Contender} for a command, and looks at locks for people. Only this client
 * uses its holder ids, so an id that is not known here has no node.
 */
final class ZooKeeperLockStore implements LockStore, Contender.Registry {

    /** The number of looks at a lock that changes hands between two requests. */
    private static final int ATTEMPTS = 20;

    private record Key(String name, String holderId) {}

    private final ZooKeeperSettings settings;
    private final StoreAccess access;
    private final CardStore cards;
    private final Map<Key, Contender> contenders = new ConcurrentHashMap<>();
    private final LeftHolds left;
    private final AtomicBoolean closed = new AtomicBoolean();

    /** Makes a store that is not connected yet. */
    ZooKeeperLockStore(
            ZooKeeperSettings settings, StoreContext context, Connector connector, Supplier<SessionClock> clocks) {
        this.settings = settings;
        this.access = new StoreAccess(
                settings,
                context.time(),
                connector,
                clocks,
                id -> contenders.values().forEach(contender -> contender.sessionOver(id)));
        this.cards = new ZooKeeperCards(access, settings.folder(), context.clientId());
        this.left = new LeftHolds(context.time(), this::abandon);
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
        return access.answer(() -> inspect(folder(name), session(), ATTEMPTS));
    }

    private CompletableFuture<StoreState> inspect(Folder folder, Session session, int attempts) {
        return folder.lookAtNewest(session).thenCompose(queue -> {
            if (queue.isEmpty()) {
                return CompletableFuture.completedFuture(StoreState.free(0));
            }
            String twin = queue.twin(0);
            if (twin != null) {
                return CompletableFuture.failedFuture(access.errors().equalNumbers(folder, queue.node(0), twin));
            }
            if (attempts == 0) {
                // The lock changes hands between any two requests: only its holder at the first one is known.
                return CompletableFuture.completedFuture(
                        new StoreState(queue.holder(), session.timeoutMillis(), 0, queue.waiting()));
            }
            return session.read(folder.path(queue.node(0)))
                    .thenApply(node -> new StoreState(
                            queue.holder(),
                            remainingMillis(folder, queue.holder(), session, node),
                            node.stat().getCzxid(),
                            queue.waiting()))
                    .exceptionallyCompose(error -> ZooKeeperErrors.is(error, Code.NONODE)
                            ? inspect(folder, session, attempts - 1)
                            : CompletableFuture.failedFuture(error));
        });
    }

    /** Returns how long the hold lasts. Another client's hold ends with its session at the latest. */
    private long remainingMillis(Folder folder, String holder, Session session, Session.Node node) {
        Contender own = known(folder.name(), holder);
        long known = own == null ? 0 : own.remainingMillis();
        return known > 0 ? known : OwnNode.sessionMillis(node.data(), session.timeoutMillis());
    }

    @Override
    public CompletionStage<ForceReply> forceRelease(String name, @Nullable String holder) {
        return access.answer(() -> forceRelease(folder(name), holder, session(), ATTEMPTS));
    }

    private CompletableFuture<ForceReply> forceRelease(
            Folder folder, @Nullable String expected, Session session, int attempts) {
        return folder.lookAtNewest(session).thenCompose(queue -> {
            if (queue.isEmpty()) {
                return CompletableFuture.completedFuture(new ForceReply.Free());
            }
            if (expected != null && !expected.equals(queue.holder())) {
                return CompletableFuture.completedFuture(new ForceReply.HeldBy(queue.holder()));
            }
            if (attempts == 0) {
                return CompletableFuture.failedFuture(new StoreException(
                        StoreException.Outcome.NOT_EXECUTED,
                        describe() + ": the lock \"" + folder.name()
                                + "\" changes hands faster than it can be released by force (expected: another try)",
                        null));
            }
            // The node is the holder's, and no other node ever has its name: so this deletion is the comparison, too.
            return session.delete(folder.path(queue.node(0)))
                    .<ForceReply>thenApply(deleted -> new ForceReply.Ended(queue.holder()))
                    .exceptionallyCompose(error -> ZooKeeperErrors.is(error, Code.NONODE)
                            ? forceRelease(folder, expected, session, attempts - 1)
                            : CompletableFuture.failedFuture(error));
        });
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
        return Optional.of(cards);
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

    /** Ends the session, at once or after the work under holds that were left. */
    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            access.listen(null);
            contenders.values().forEach(Contender::stop);
            if (left.isEmpty()) {
                access.close();
            } else {
                left.whenNone(access::beginToClose);
            }
        }
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

    /** Returns how many holder ids have state here; for tests. */
    int size() {
        return contenders.size();
    }

    private Folder folder(String name) {
        return Folder.of(settings.folder(), name);
    }

    private @Nullable Contender known(String name, String holderId) {
        return contenders.get(new Key(name, holderId));
    }
}
