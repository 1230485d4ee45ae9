package io.holdfast.zookeeper;

import static java.util.Objects.requireNonNull;

import io.holdfast.spi.StageWait;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.StoreListener;
import io.holdfast.spi.TimeSource;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What contenders and cards use of their store: the session, the time, answers within the timeout, and messages to the
 * engine.
 */
final class StoreAccess {

    private final ZooKeeperSettings settings;
    private final TimeSource time;
    private final ZooKeeperErrors errors;
    private final CurrentSession session;
    private final PauseDetector pauses;
    private final FullFolders fullFolders;
    private final LastHeld lastHeld;
    private final @Nullable StoreAccess pools; // null in the view of pools
    private volatile @Nullable StoreListener listener;

    /** @param sessionOver receives the id of a session on whose nodes nothing may rely any more */
    StoreAccess(
            ZooKeeperSettings settings,
            TimeSource time,
            Connector connector,
            Supplier<SessionClock> clocks,
            LongConsumer sessionOver) {
        this.settings = settings;
        this.time = time;
        this.errors = new ZooKeeperErrors(settings);
        this.session = new CurrentSession(
                connector, errors, handle -> newSession(handle, clocks.get()), this::reconnected, sessionOver);
        this.pauses = new PauseDetector(time, session::timeoutMillis);
        this.fullFolders = new FullFolders(errors);
        this.lastHeld = new LastHeld(time);
        this.pools = new StoreAccess(this);
    }

    private StoreAccess(StoreAccess locks) {
        this.settings = locks.settings;
        this.time = locks.time;
        this.errors = locks.errors;
        this.session = locks.session;
        this.pauses = locks.pauses;
        this.fullFolders = locks.fullFolders;
        this.lastHeld = locks.lastHeld;
        this.pools = null;
    }

    /** Returns the access of the view of pools: the same session, and another receiver of messages. */
    StoreAccess pools() {
        return requireNonNull(pools);
    }

    private void reconnected() {
        tell(StoreListener::reconnected);
        pools().tell(StoreListener::reconnected);
    }

    private Session newSession(Handle handle, SessionClock clock) {
        return new Session(handle, clock, pauses);
    }

    /** Waits until there is a session, for a bounded time. */
    Session connect() {
        return session.connect(settings.connectMillis());
    }

    void listen(@Nullable StoreListener receiver) {
        listener = receiver;
    }

    /** Ends the session and waits for that, for a bounded time. */
    void close() {
        pauses.stop();
        session.close();
    }

    /** Ends the session, without waiting. */
    void beginToClose() {
        pauses.stop();
        session.beginToClose();
    }

    String describe() {
        return settings.describe();
    }

    /** Returns the session's state, id and timeout for people. */
    Map<String, Object> describeSession() {
        return session.describe();
    }

    TimeSource time() {
        return time;
    }

    /** Returns the session, or throws if there is no connection. */
    Session session() {
        return session.get();
    }

    /** Returns the number of reconnections: messages from before the last one may be missing. */
    int reconnections() {
        return session.reconnections();
    }

    /** Returns the folders whose numbers are used up. */
    FullFolders fullFolders() {
        return fullFolders;
    }

    /** Returns the nodes with which this client held names last. */
    LastHeld lastHeld() {
        return lastHeld;
    }

    ZooKeeperErrors errors() {
        return errors;
    }

    /** Returns what an error means for the command. */
    StoreException failure(Throwable error) {
        return errors.of(error);
    }

    /** Sends a message to the engine, unless it does not listen yet, or no longer. */
    void tell(Consumer<StoreListener> message) {
        StoreListener receiver = listener;
        if (receiver != null) {
            message.accept(receiver);
        }
    }

    /** Returns a command's answer in time, or an error that the engine understands. A late command continues. */
    <T> CompletionStage<T> answer(Supplier<? extends CompletionStage<T>> command) {
        CompletionStage<T> running;
        try {
            running = command.get();
        } catch (StoreException e) {
            return CompletableFuture.failedFuture(e);
        }
        CompletableFuture<T> answer = new CompletableFuture<>();
        TimeSource.Timer timer =
                time.schedule(settings.timeout().toNanos(), () -> answer.completeExceptionally(errors.late()));
        running.whenComplete((@Nullable T value, @Nullable Throwable error) -> {
            timer.cancel();
            if (error != null) {
                answer.completeExceptionally(errors.of(error));
            } else {
                answer.complete(value);
            }
        });
        return answer;
    }

    /** Waits for a step of the opening, for at most the timeout. */
    <T> T await(CompletableFuture<T> step) {
        long millis = settings.timeout().toMillis();
        try {
            return StageWait.await(step, settings.timeout());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw errors.interrupted(e);
        } catch (TimeoutException e) {
            throw errors.unreachable(millis, null);
        } catch (ExecutionException e) {
            throw errors.of(e);
        }
    }
}
