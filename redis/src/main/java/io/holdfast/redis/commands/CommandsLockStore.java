package io.holdfast.redis.commands;

import io.holdfast.redis.commands.ConditionalDelete.Deletion;
import io.holdfast.redis.connect.RedisConnections;
import io.holdfast.redis.messages.RedisMessages;
import io.holdfast.redis.server.RedisErrors;
import io.holdfast.redis.server.RedisKeys;
import io.holdfast.spi.AcquireReply;
import io.holdfast.spi.AcquireReply.Busy;
import io.holdfast.spi.AcquireReply.Granted;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.ForceReply;
import io.holdfast.spi.HolderId;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.ReleaseReply;
import io.holdfast.spi.ReleaseRequest;
import io.holdfast.spi.RenewReply;
import io.holdfast.spi.RenewReply.Gone;
import io.holdfast.spi.RenewReply.Renewed;
import io.holdfast.spi.RenewRequest;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.StoreListener;
import io.holdfast.spi.StoreState;
import io.holdfast.spi.TimeSource;
import io.lettuce.core.SetArgs;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongUnaryOperator;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The store of mode {@code commands}. A lock is a string key whose value is the holder id. {@code SET NX PX} takes it,
 * and every release and renewal is a comparison by the server ({@link CompareWays}).
 *
 * <p>There is no queue: a release notifies all clients that wait for the name, and the first to ask gets the lock.
 */
public final class CommandsLockStore implements LockStore {

    /** How often a command starts again because the key changed in the meantime. */
    private static final int TRIES = 5;

    /** The time for which a client that lets others go first does not ask. */
    private static final long LEFT_FREE_MILLIS = 50;

    /**
     * The parts of this store.
     *
     * @param recovery the answer of {@link LockStore#recovery}
     * @param random returns a random number below its argument
     */
    public record Parts(
            String server,
            Duration recovery,
            String clientId,
            RedisConnections connections,
            RedisKeys keys,
            CompareWays ways,
            RedisErrors errors,
            RedisMessages messages,
            TimeSource time,
            LongUnaryOperator random) {}

    private final Parts parts;
    private final Runnable closing;
    private final CompareWays ways;
    private final CommandsTokens tokens;
    private final CommandsHolds holds;
    private final ForeignKeys foreign;
    private final Acquisitions acquisitions = new Acquisitions();

    private final AtomicBoolean closed = new AtomicBoolean();

    /** @param closing closes the connections */
    public CommandsLockStore(Parts parts, Runnable closing) {
        this.parts = parts;
        this.closing = closing;
        this.ways = parts.ways();
        this.tokens = new CommandsTokens(parts.connections(), parts.keys(), ways, parts.errors(), parts.time());
        this.foreign = new ForeignKeys(parts.connections(), parts.errors());
        this.holds = new CommandsHolds(ways, foreign, parts.errors(), parts.time());
    }

    @Override
    public CompletionStage<AcquireReply> acquire(AcquireRequest request) {
        return acquisitions.next(request.holderId(), () -> guarded(request.name(), () -> take(request, TRIES)));
    }

    private CompletionStage<AcquireReply> take(AcquireRequest request, int triesLeft) {
        long sent = parts.time().nanoTime();
        String name = request.name();
        SetArgs args = SetArgs.Builder.nx().px(request.leaseMillis());
        return commands()
                .set(name, request.holderId(), args)
                .thenCompose(ok -> ok == null
                        ? held(request, sent, triesLeft)
                        : granted(request, tokens.next(name), request.holderId(), sent));
    }

    /** Answers an acquire of a held lock. This id may hold it itself, by an execution whose answer was lost. */
    private CompletionStage<AcquireReply> held(AcquireRequest request, long sent, int triesLeft) {
        String name = request.name();
        String id = request.holderId();
        CompletionStage<String> value = commands().get(name);
        CompletionStage<Long> remaining = commands().pttl(name);
        return foreign.holderOr(name, value)
                .thenCombine(remaining, (holder, left) -> {
                    if (holder == null || !CommandsHold.isOf(id, holder)) {
                        return CompletableFuture.completedFuture(busy(request, holder, left));
                    }
                    return repeated(request, holder, sent, triesLeft);
                })
                .thenCompose(reply -> reply);
    }

    private CompletionStage<AcquireReply> repeated(AcquireRequest request, String value, long sent, int triesLeft) {
        String name = request.name();
        String id = request.holderId();
        CommandsHold known = holds.known(name, id);
        CompletionStage<Long> base = known == null ? tokens.next(name) : CompletableFuture.completedFuture(known.base);
        if (CommandsHold.isChanged(value)) {
            // Settings were made since. A late repetition must not undo them.
            return granted(request, base, value, parts.time().nanoTime() - request.leaseMillis() * 1_000_000);
        }
        return holds.lengthen(name, id, value, request.leaseMillis())
                .thenCompose(done -> done
                        ? granted(request, base, value, sent)
                        : triesLeft > 1
                                ? take(request, triesLeft - 1)
                                : CompletableFuture.failedFuture(RedisErrors.keepsChanging(name)));
    }

    /** @param sent the earliest time at which the lease began, on the local clock */
    private CompletionStage<AcquireReply> granted(
            AcquireRequest request, CompletionStage<Long> base, String value, long sent) {
        String name = request.name();
        String id = request.holderId();
        CompletableFuture<AcquireReply> outcome = new CompletableFuture<>();
        base.whenComplete((number, error) -> {
            if (error == null) {
                holds.begin(name, id, value, number, sent, request.leaseMillis());
                parts.messages().redisson().unwatch(name, id);
                outcome.complete(new Granted(number, 0));
                return;
            }
            StoreException why = parts.errors().of(error);
            StoreException unsure =
                    new StoreException(StoreException.Outcome.UNKNOWN, String.valueOf(why.getMessage()), why);
            if (why.outcome() != StoreException.Outcome.FATAL) {
                // This id holds, but without a token there is no lease. The engine asks again under this id, or
                // withdraws it; a withdrawal from here could be executed after that.
                outcome.completeExceptionally(unsure);
                return;
            }
            end(name, id, id, TRIES)
                    .whenComplete((deletion, failure) -> outcome.completeExceptionally(failure == null ? why : unsure));
        });
        return outcome;
    }

    private AcquireReply busy(AcquireRequest request, @Nullable String value, long remaining) {
        if (value == null) {
            return new Busy(0, 0, "(somebody until now)");
        }
        String holder = value.equals(ForeignKeys.HASH) ? value : Holders.inString(value, remaining >= 0);
        if (request.queue()) {
            parts.messages().redisson().watch(request.name(), request.holderId(), request.nonce());
            tellContended(request, holder);
        }
        // -2: the key expired between the two questions.
        return new Busy(remaining == -2 ? 0 : remaining, 0, holder);
    }

    /** Notifies a holder of Holdfast's own: it passes the lock on sooner when it knows that another client waits. */
    private void tellContended(AcquireRequest request, String holder) {
        if (publishes() && !HolderId.client(holder).equals(parts.clientId())) {
            tellHolder("c", holder, request.name());
        }
    }

    /** Sends a message to a holder of Holdfast's own. No answer is waited for. */
    private void tellHolder(String kind, String holder, String name) {
        String client = HolderId.client(holder);
        if (client.startsWith("hf-")) {
            hint(parts.keys().clientChannels() + client, kind + " " + holder + " " + name);
        }
    }

    @Override
    public CompletionStage<RenewReply> renew(RenewRequest request) {
        String name = request.name();
        return guarded(name, () -> {
                    CompletionStage<Integer> waiting = publishes()
                            ? foreign.listeners(RedisKeys.redissonChannel(name))
                            : CompletableFuture.completedFuture(0);
                    return holds.renew(request, () -> tokens.next(name))
                            .thenCombine(
                                    waiting, (reply, count) -> reply instanceof Renewed ? new Renewed(count) : reply);
                })
                .whenComplete((reply, error) -> {
                    if (reply instanceof Gone) {
                        parts.messages().redisson().unwatch(name, request.holderId());
                    }
                });
    }

    @Override
    public CompletionStage<ReleaseReply> release(ReleaseRequest request) {
        String name = request.name();
        AcquireRequest next = request.requeue();
        if (next == null) {
            return abandon(name, request.holderId()).thenApply(ReleaseReply::of);
        }
        return acquisitions.next(
                next.holderId(),
                () -> guarded(name, () -> end(name, request.holderId()))
                        .thenCompose(deletion -> deletion.done()
                                ? guarded(name, () -> afterOthers(next, deletion))
                                        .thenApply(reply -> ReleaseReply.requeued(reply))
                                : CompletableFuture.completedFuture(ReleaseReply.notHeld())));
    }

    /**
     * Leaves the clients that were just notified time to take the lock: a client with many waiting threads would always
     * win.
     */
    private CompletionStage<AcquireReply> afterOthers(AcquireRequest again, Deletion deletion) {
        if (deletion.heard() <= 0) {
            return take(again, TRIES);
        }
        parts.messages().redisson().watch(again.name(), again.holderId(), again.nonce());
        return CompletableFuture.completedFuture(new Busy(LEFT_FREE_MILLIS, 0, "(left free for waiting clients)"));
    }

    @Override
    public CompletionStage<Boolean> abandon(String name, String holderId) {
        return guarded(name, () -> end(name, holderId)).thenApply(Deletion::done);
    }

    /** Deletes the key if this id holds it, and notifies the waiting clients. */
    private CompletionStage<Deletion> end(String name, String id) {
        CommandsHold hold = holds.remove(name, id);
        // Only afterwards: an acquire of this id that is under way may still begin to listen.
        acquisitions.afterwards(id, () -> parts.messages().redisson().unwatch(name, id));
        return end(name, id, hold == null ? id : hold.value, TRIES);
    }

    private CompletionStage<Deletion> end(String name, String id, String value, int triesLeft) {
        CompletionStage<Deletion> deleting = ways.delete(name, value);
        return foreign.notHeldOr(name, deleting, Deletion.NONE).thenCompose(deletion -> {
            if (!deletion.done()) {
                return lookAgain(name, id, value, triesLeft);
            }
            return announced(name, deletion);
        });
    }

    /** Announces a deletion, unless that was done in the same step. */
    private CompletionStage<Deletion> announced(String name, Deletion deletion) {
        return deletion.done() && deletion.heard() == Deletion.NOT_TOLD && publishes()
                ? hint(RedisKeys.redissonChannel(name), RedisKeys.RELEASED)
                        .thenApply(heard -> new Deletion(true, heard))
                : CompletableFuture.completedFuture(deletion);
    }

    /** Tries again if a renewal of unknown outcome has changed the value. */
    private CompletionStage<Deletion> lookAgain(String name, String id, String value, int triesLeft) {
        return foreign.value(name).thenCompose(found -> {
            if (found == null || found.equals(value) || !CommandsHold.isOf(id, found)) {
                return CompletableFuture.completedFuture(Deletion.NONE);
            }
            return triesLeft > 1
                    ? end(name, id, found, triesLeft - 1)
                    : CompletableFuture.failedFuture(RedisErrors.keepsChanging(name));
        });
    }

    /** @return how many clients received it; 0 if that is not known */
    private CompletionStage<Integer> hint(String channel, String message) {
        return commands().publish(channel, message).handle((heard, error) -> error == null ? heard.intValue() : 0);
    }

    @Override
    public CompletionStage<StoreState> inspect(String name) {
        return guarded(
                name,
                () -> foreign.inspect(
                        name, holder -> baseOf(name, holder), publishes() ? RedisKeys.redissonChannel(name) : null));
    }

    private long baseOf(String name, String holder) {
        CommandsHold known = holds.known(name, holder);
        return known == null ? 0 : known.base;
    }

    @Override
    public CompletionStage<ForceReply> forceRelease(String name, @Nullable String holder) {
        return guarded(
                name,
                () -> foreign.force(name, holder, ways).thenCompose(forced -> {
                    if (forced.reply() instanceof ForceReply.Ended ended && publishes()) {
                        tellHolder("f", ended.holder(), name);
                    }
                    return announced(name, forced.deletion()).thenApply(told -> forced.reply());
                }));
    }

    @Override
    public Duration recovery() {
        return parts.recovery();
    }

    @Override
    public void listen(StoreListener listener) {
        parts.messages().listenSpread(listener, parts.random());
    }

    @Override
    public String describe() {
        return parts.server();
    }

    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            parts.messages().stop();
            closing.run();
        }
    }

    @Override
    public String toString() {
        return describe();
    }

    private RedisClusterAsyncCommands<String, String> commands() {
        return parts.connections().commands();
    }

    /** Returns the ways to compare, for tests. */
    public CompareWays.Choice choice() {
        return ways.choice();
    }

    /** Returns what the store remembers of acquires and holds, for tests. */
    public String left() {
        return acquisitions.size() == 0 && holds.size() == 0
                ? ""
                : acquisitions.size() + " acquisitions, " + holds.size() + " holds at the store";
    }

    private boolean publishes() {
        return ways.choice().has(Ability.PUBLISH);
    }

    /** Runs a command unless the store is closed, and turns its failure into the store's. */
    private <T> CompletionStage<T> guarded(String name, Supplier<CompletionStage<T>> command) {
        if (closed.get()) {
            return CompletableFuture.failedFuture(parts.errors().closed(null));
        }
        CompletionStage<T> running;
        try {
            running = command.get();
        } catch (RuntimeException e) {
            return CompletableFuture.failedFuture(parts.errors().closed(e));
        } catch (Error e) {
            // The command may have been sent.
            return CompletableFuture.failedFuture(parts.errors().of(e));
        }
        CompletableFuture<T> outcome = new CompletableFuture<>();
        running.whenComplete((answer, error) -> {
            if (error == null) {
                parts.errors().executed();
                outcome.complete(answer);
            } else {
                Throwable cause = RedisErrors.unwrap(error);
                parts.connections().failed(name, cause == null ? error : cause);
                outcome.completeExceptionally(parts.errors().of(error));
            }
        });
        return outcome;
    }
}
