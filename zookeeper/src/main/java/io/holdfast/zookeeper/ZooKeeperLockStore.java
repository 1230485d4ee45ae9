package io.holdfast.zookeeper;

import static java.util.Objects.requireNonNull;

import io.holdfast.spi.AcquireReply;
import io.holdfast.spi.AcquireRequest;
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
import io.holdfast.spi.TimeSource;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;

/**
 * The store on an ensemble: finds the {@link Contender} for a command, and looks at locks for people. A holder id is used by
 * this client alone, so what is not known here is not there.
 */
final class ZooKeeperLockStore implements LockStore {

    private static final int ATTEMPTS = 20;

    private record Key(String name, String holderId) {}

    private final ZooKeeperSettings settings;
    private final TimeSource time;
    private final ZooKeeperErrors errors;
    private final Link link;
    private final PauseDetector pulse;
    private final CommandTimeouts timeouts;
    private final Map<Key, Contender> contenders = new ConcurrentHashMap<>();
    private final AtomicBoolean closed = new AtomicBoolean();
    private volatile StoreListener listener = new NobodyListens();

    /** Not connected yet. */
    ZooKeeperLockStore(
            ZooKeeperSettings settings, StoreContext context, Connector connector, Supplier<SessionClock> contacts) {
        this.settings = settings;
        this.time = context.time();
        this.errors = new ZooKeeperErrors(settings);
        // The link knows no session yet, and asks for the pulse when it does.
        AtomicReference<PauseDetector> beating = new AtomicReference<>();
        this.link = new Link(
                connector, errors, handle -> new Session(handle, contacts.get(), requireNonNull(beating.get())));
        this.pulse = new PauseDetector(time, link::timeoutMillis);
        beating.set(pulse);
        this.timeouts = new CommandTimeouts(time, settings.timeout(), errors::late);
        link.listen(() -> listener.reconnected(), this::sessionOver);
    }

    static LockStore open(ZooKeeperSettings settings, StoreContext context) {
        ZooKeeperLockStore store = new ZooKeeperLockStore(
                settings,
                context,
                new CuratorConnector(settings, Link.CLOSE_MILLIS),
                () -> new SessionClock(context.time()));
        try {
            Session session = store.link.connect(settings.connectMillis());
            // A folder without a lock may vanish between the two.
            String probe = settings.folder() + "/" + NodeNames.encode("probe~" + context.clientId());
            store.await(Folder.make(session, settings.folder()));
            store.await(session.probe(probe).handle((made, error) -> {
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
        return answer(() -> folder(request.name()).acquire(request));
    }

    @Override
    public CompletionStage<RenewReply> renew(RenewRequest request) {
        Contender contender = known(request.name(), request.holderId());
        return contender == null
                ? CompletableFuture.completedFuture(new RenewReply.Gone())
                : answer(() -> contender.renew(request));
    }

    @Override
    public CompletionStage<ReleaseReply> release(ReleaseRequest request) {
        Contender contender = known(request.name(), request.holderId());
        return contender == null
                ? CompletableFuture.completedFuture(new ReleaseReply(false, null))
                : answer(() -> contender.release(request));
    }

    @Override
    public CompletionStage<Boolean> abandon(String name, String holderId) {
        return answer(() -> abandonKnown(name, holderId));
    }

    @Override
    public CompletionStage<StoreState> inspect(String name) {
        return answer(() -> inspect(folder(name), session(), ATTEMPTS));
    }

    private CompletableFuture<StoreState> inspect(Folder folder, Session session, int attempts) {
        return folder.lookAtNewest(session).thenCompose(line -> {
            if (line.isEmpty()) {
                return CompletableFuture.completedFuture(StoreState.free(0));
            }
            if (attempts == 0) {
                // It changes hands faster than one can ask twice: all that is known is who had it at that time.
                return CompletableFuture.completedFuture(
                        new StoreState(line.holder(), session.timeoutMillis(), 0, line.waiting()));
            }
            return StageChain.then(session.read(folder.path(line.node(0))), (node, error) -> {
                if (node != null) {
                    return CompletableFuture.completedFuture(new StoreState(
                            line.holder(),
                            remainingMillis(folder, line.holder(), session, node),
                            node.stat().getCzxid(),
                            line.waiting()));
                }
                return ZooKeeperErrors.is(error, Code.NONODE)
                        ? inspect(folder, session, attempts - 1)
                        : CompletableFuture.<StoreState>failedFuture(error);
            });
        });
    }

    /** Of a hold of another client it is only known that it ends with its session, at the latest. */
    private long remainingMillis(Folder folder, String holder, Session session, Session.Node node) {
        Contender own = known(folder.name(), holder);
        long known = own == null ? 0 : own.remainingMillis();
        return known > 0 ? known : Folder.sessionMillis(node.data(), session.timeoutMillis());
    }

    @Override
    public CompletionStage<Boolean> forceRelease(String name) {
        return answer(() -> forceRelease(folder(name), session(), ATTEMPTS));
    }

    private CompletableFuture<Boolean> forceRelease(Folder folder, Session session, int attempts) {
        return folder.lookAtNewest(session).thenCompose(line -> {
            if (line.isEmpty()) {
                return CompletableFuture.completedFuture(false);
            }
            if (attempts == 0) {
                return CompletableFuture.failedFuture(new StoreException(
                        StoreException.Outcome.NOT_EXECUTED,
                        describe() + ": the lock \"" + folder.name()
                                + "\" changes hands faster than it can be taken away (expected: another try)",
                        null));
            }
            return StageChain.then(session.delete(folder.path(line.node(0))), (deleted, error) -> {
                if (error == null) {
                    return CompletableFuture.completedFuture(true);
                }
                return ZooKeeperErrors.is(error, Code.NONODE)
                        ? forceRelease(folder, session, attempts - 1)
                        : CompletableFuture.<Boolean>failedFuture(error);
            });
        });
    }

    /** While there is no connection, the session may still live, and with it what it holds. */
    @Override
    public CompletionStage<StoreHealth> health(String name) {
        return inspect(name).handle((state, error) -> {
            Map<String, Object> details = new LinkedHashMap<>(link.describeSession());
            if (error != null) {
                details.put("error", String.valueOf(errors.of(error).getMessage()));
            }
            return new StoreHealth(error == null, details);
        });
    }

    @Override
    public void listen(StoreListener listener) {
        this.listener = listener;
    }

    @Override
    public String describe() {
        return settings.describe();
    }

    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            listener = new NobodyListens();
            contenders.values().forEach(Contender::stop);
            pulse.stop();
            link.close();
        }
    }

    @Override
    public String toString() {
        return describe();
    }

    // --- for the contenders ---

    TimeSource time() {
        return time;
    }

    Session session() {
        return link.session();
    }

    int connection() {
        return link.connection();
    }

    StoreListener listener() {
        return listener;
    }

    StoreException failure(Throwable error) {
        return errors.of(error);
    }

    Contender contender(Folder folder, String holderId) {
        return contenders.computeIfAbsent(new Key(folder.name(), holderId), key -> new Contender(folder, holderId));
    }

    CompletableFuture<Boolean> abandonKnown(String name, String holderId) {
        Contender contender = known(name, holderId);
        return contender == null ? CompletableFuture.completedFuture(false) : contender.abandon();
    }

    void remove(Folder folder, String holderId, Contender contender) {
        contenders.remove(new Key(folder.name(), holderId), contender);
    }

    /** For tests: how many holder ids have state here. */
    int size() {
        return contenders.size();
    }

    private void sessionOver(long id) {
        contenders.values().forEach(contender -> contender.sessionOver(id));
    }

    private Folder folder(String name) {
        return new Folder(this, settings.folder(), name);
    }

    private @Nullable Contender known(String name, String holderId) {
        return contenders.get(new Key(name, holderId));
    }

    /** A command's answer: in time, and with an error that the engine and people understand. */
    private <T> CompletionStage<T> answer(Supplier<? extends CompletionStage<T>> command) {
        CompletionStage<T> running;
        try {
            running = command.get();
        } catch (StoreException e) {
            return CompletableFuture.failedFuture(e);
        }
        CompletableFuture<T> answer = new CompletableFuture<>();
        running.whenComplete((@Nullable T value, @Nullable Throwable error) -> {
            if (error != null) {
                answer.completeExceptionally(errors.of(error));
            } else {
                answer.complete(value);
            }
        });
        return timeouts.bound(answer);
    }

    private <T> T await(CompletableFuture<T> step) {
        long millis = settings.timeout().toMillis();
        try {
            return step.get(millis, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw errors.interrupted(e);
        } catch (TimeoutException e) {
            throw errors.unreachable(millis);
        } catch (ExecutionException e) {
            throw errors.of(e);
        }
    }

    /** Until the engine listens, and after the end. */
    private static final class NobodyListens implements StoreListener {
        @Override
        public void granted(String name, String holderId) {}

        @Override
        public void contended(String name, String holderId) {}

        @Override
        public void released(String name) {}

        @Override
        public void reconnected() {}
    }
}
