package io.holdfast.zookeeper;

import static java.util.Objects.requireNonNull;

import io.holdfast.spi.AcquireReply;
import io.holdfast.spi.AcquireReply.Busy;
import io.holdfast.spi.AcquireReply.Granted;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.ReleaseReply;
import io.holdfast.spi.ReleaseRequest;
import io.holdfast.spi.RenewReply;
import io.holdfast.spi.RenewReply.Renewed;
import io.holdfast.spi.RenewRequest;
import io.holdfast.spi.StoreException;
import io.holdfast.zookeeper.OwnNode.Place;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * A holder id of this client, with its node in the lock's folder. It holds when no node of the folder is before its own.
 *
 * <p>Invariant: a grant or renewal is answered only after a write that this session committed to a node that is the first,
 * and its time is counted from the sending of that write.
 *
 * <p>Commands and events take {@link SerialQueue}; all fields that are not final belong to whoever's turn it is, except {@link
 * #heldIn}.
 */
final class Contender {

    /** Folders vanish by themselves when they are empty; more often than this in a row it is something else. */
    private static final int CREATE_ATTEMPTS = 20;

    private static final long NOT_HELD = 0;

    private final Folder folder;
    private final String holderId;
    private final SerialQueue turns = new SerialQueue();
    private final Lifetime lifetime;
    private final SuccessorWatch sight;
    private final OwnNode node;
    private final RetryPause rest;

    private boolean finished;
    private @Nullable AcquireRequest wanted;

    // Of the present node, once it is the first:
    private long sequence; // of exact settings
    private boolean confirmed; // whether the engine was told by an answer
    private @Nullable Proof proof; // of the time when it became the first, until it is used

    /** The session in which it was granted, or zero. Written in turn, read anywhere. */
    private volatile long heldIn = NOT_HELD;

    Contender(Folder folder, String holderId) {
        this.folder = folder;
        this.holderId = holderId;
        this.lifetime = new Lifetime(folder.time(), () -> turns.event(this::endIfOver));
        this.sight = new SuccessorWatch(
                folder,
                holderId,
                work -> turns.event(() -> {
                    work.run();
                    return done();
                }));
        this.node = new OwnNode(folder, holderId, turns, this::nodeGone, this::nextInLine);
        this.rest = new RetryPause(folder.time());
    }

    // --- commands ---

    CompletableFuture<AcquireReply> acquire(AcquireRequest request) {
        return turns.add(() -> finished ? folder.acquireAnew(request) : acquireNow(request));
    }

    CompletableFuture<RenewReply> renew(RenewRequest request) {
        return turns.add(() -> renewNow(request, false));
    }

    CompletableFuture<ReleaseReply> release(ReleaseRequest request) {
        return turns.add(() -> whetherFirst().thenCompose(first -> {
            if (!first) {
                return CompletableFuture.completedFuture(new ReleaseReply(false, null));
            }
            AcquireRequest requeue = request.requeue();
            return requeue == null
                    ? delete().thenApply(deleted -> new ReleaseReply(deleted, null))
                    : folder.fresh(requeue.holderId()).takeOver(this, requeue);
        }));
    }

    /** Whether it held. */
    CompletableFuture<Boolean> abandon() {
        // An acquire that came before may have begun anew.
        CompletableFuture<Boolean> withdrawn = turns.add(() -> finished ? folder.abandonAnew(holderId) : abandonNow());
        rest.end();
        return withdrawn;
    }

    private CompletableFuture<Boolean> abandonNow() {
        return whetherFirst()
                .thenCompose(first -> !node.isMade()
                        ? CompletableFuture.completedFuture(false)
                        : delete().thenApply(deleted -> deleted && first))
                .whenComplete((held, error) -> {
                    if (error == null) {
                        finish();
                    }
                });
    }

    // --- events ---

    /** The session is over, and all its nodes are, or will be soon. */
    void sessionOver(long id) {
        if (heldIn == id) {
            folder.listener().lost(folder.name(), holderId);
        }
        turns.event(() -> {
            node.sessionOver(id);
            return done();
        });
    }

    /** The store is closed. */
    void stop() {
        lifetime.stop();
        sight.stop();
    }

    /** How long it holds if it is not renewed, in milliseconds; zero if it does not hold. */
    long remainingMillis() {
        return heldIn == NOT_HELD ? 0 : lifetime.remainingMillis();
    }

    // --- acquire ---

    private CompletableFuture<AcquireReply> acquireNow(AcquireRequest request) {
        wanted = request;
        if (node.isMade() && lifetime.isOver()) {
            // A withdrawal has its turn after this one, and would not end the rests of what begins anew.
            return delete().thenCompose(deleted -> rest.isEnded() ? withdrawnMeanwhile() : folder.acquireAnew(request));
        }
        if (!confirmed) {
            lifetime.lastAtLeast(3 * request.pollMillis());
        }
        boolean known = node.place() != Place.NONE;
        CompletableFuture<AcquireReply> asked = attempt(request, CREATE_ATTEMPTS);
        return known
                ? asked
                : asked.exceptionally(error -> {
                    throw halfDone(error);
                });
    }

    /** Who asked withdraws what may have been executed. If there is a node, it was in part: a later step was refused. */
    private StoreException halfDone(Throwable error) {
        StoreException why = folder.failure(error);
        return node.place() == Place.NONE || why.outcome() == StoreException.Outcome.UNKNOWN
                ? why
                : new StoreException(StoreException.Outcome.UNKNOWN, String.valueOf(why.getMessage()), why);
    }

    private CompletableFuture<AcquireReply> attempt(AcquireRequest request, int attempts) {
        if (attempts == 0) {
            throw new IllegalStateException(folder.path() + " is removed again and again (let nobody tidy up there)");
        }
        Session now = folder.session();
        node.enter(now);
        return switch (node.place()) {
            case NONE -> request.queue() ? create(now, request, attempts) : createIfFree(now, request, attempts);
            case UNSURE -> node.locate(now).thenCompose(found -> attempt(request, attempts - 1));
            case QUEUED -> poll(now, request, attempts);
            case FIRST -> proven(now, request, attempts);
        };
    }

    private CompletableFuture<AcquireReply> poll(Session now, AcquireRequest request, int attempts) {
        Busy known = node.known(request.pollMillis());
        if (known != null) {
            return CompletableFuture.completedFuture(known);
        }
        return folder.look(now)
                .thenCompose(line -> !node.isIn(now, line)
                        ? attempt(request, attempts - 1)
                        : node.place() == Place.FIRST
                                ? confirm(now, request, attempts, line.waiting(), false)
                                : CompletableFuture.completedFuture(node.busy(now, line)));
    }

    /** The write that a grant needs was made when the node became the first; if that was just now, it needs no other. */
    private CompletableFuture<AcquireReply> proven(Session now, AcquireRequest request, int attempts) {
        Proof made = proof;
        proof = null;
        return made != null && made.isFresh(folder.time())
                ? granted(now, request, made.stat(), made.waiting(), made.leftMillis(folder.time()))
                : confirm(now, request, attempts, -1, false);
    }

    /** For an attempt that must leave nothing behind: first a look, so that the queue is not disturbed. */
    private CompletableFuture<AcquireReply> createIfFree(Session now, AcquireRequest request, int attempts) {
        return folder.lookAtNewest(now).thenCompose(line -> {
            if (line.isEmpty()) {
                return create(now, request, attempts);
            }
            finish();
            return CompletableFuture.completedFuture(
                    new Busy(now.longestPromiseMillis(), line.waiting(), line.holder()));
        });
    }

    private CompletableFuture<AcquireReply> create(Session now, AcquireRequest request, int attempts) {
        Session.Promise promise = now.promise();
        CompletableFuture<Session.Created> created =
                now.create(node.beginning(now), folder.data(now, request), CreateMode.EPHEMERAL_SEQUENTIAL);
        // Sent at once: it is executed after the create, and sees its node.
        CompletableFuture<List<String>> listed = now.children(folder.path(), null);
        return StageChain.then(created, (made, error) -> {
            if (made != null) {
                node.made(made.path());
                return listed.thenCompose(nodes -> {
                    QueueSnapshot line = QueueSnapshot.of(nodes);
                    if (!node.isIn(now, line)) {
                        return attempt(request, attempts - 1);
                    }
                    if (node.place() == Place.FIRST) {
                        return now.shows(promise)
                                ? granted(now, request, made.stat(), line.waiting(), promise.millis())
                                : confirm(now, request, attempts, line.waiting(), true);
                    }
                    Busy busy = node.busy(now, line);
                    return request.queue()
                            ? CompletableFuture.<AcquireReply>completedFuture(busy)
                            : delete().thenApply(deleted -> (AcquireReply) busy);
                });
            }
            if (!ZooKeeperErrors.isUnknown(error)) {
                node.forget();
            }
            if (ZooKeeperErrors.is(error, Code.NONODE)) {
                return folder.make(now).thenCompose(there -> attempt(request, attempts - 1));
            }
            return CompletableFuture.<AcquireReply>failedFuture(error);
        });
    }

    /**
     * A committed write to our node: it is there, and so is the session.
     *
     * @param again whether the leader has just answered another write that was not enough. Then this one is: a leader that was
     *     paused would have ended the session between the two, and one that is slow shall not have to write for ever
     */
    private CompletableFuture<AcquireReply> confirm(
            Session now, AcquireRequest request, int attempts, int waiting, boolean again) {
        Session.Promise promise = now.promise();
        CompletableFuture<@Nullable Stat> written = node.write(now, folder.data(now, request));
        CompletableFuture<Integer> behind = waiting >= 0
                ? CompletableFuture.completedFuture(waiting)
                : folder.look(now).thenApply(QueueSnapshot::waiting);
        return written.thenCompose(stat -> stat == null
                ? attempt(request, attempts - 1)
                : behind.thenCompose(count -> again || now.shows(promise)
                        ? granted(now, request, stat, count, promise.millis())
                        : confirm(now, request, attempts, count, true)));
    }

    private CompletableFuture<AcquireReply> granted(
            Session now, AcquireRequest request, Stat stat, int waiting, long promised) {
        if (!now.isWorth(promised)) {
            return later(now, () -> attempt(request, CREATE_ATTEMPTS));
        }
        long base;
        try {
            base = TokenBase.of(stat.getCzxid(), folder.describe());
        } catch (RuntimeException e) {
            // Nobody shall wait behind a node that can never be used.
            return delete().thenCompose(deleted -> CompletableFuture.failedFuture(e));
        }
        if (!confirmed) {
            lifetime.last(request.leaseMillis());
        } else if (sequence == 0) {
            lifetime.lastAtLeast(request.leaseMillis());
        }
        hold(now, waiting);
        return CompletableFuture.completedFuture(
                new Granted(base, waiting, promise(now, promised, request.leaseMillis(), Granted.AS_ASKED)));
    }

    // --- renew, release ---

    private CompletableFuture<RenewReply> renewNow(RenewRequest request, boolean again) {
        return whetherFirst().thenCompose(first -> {
            if (!first) {
                return CompletableFuture.completedFuture(new RenewReply.Gone());
            }
            if (request.sequence() < sequence && !request.isLook()) {
                return CompletableFuture.completedFuture(new RenewReply.Superseded());
            }
            Session now = node.session();
            Session.Promise promise = now.promise();
            // A look asks for no length: what the node says of it stays true.
            long lease = request.isLook() ? lifetime.remainingMillis() : request.leaseMillis();
            CompletableFuture<@Nullable Stat> written = node.write(now, folder.data(now, lease));
            CompletableFuture<QueueSnapshot> line = folder.look(now);
            return written.thenCompose(stat -> stat == null
                    ? CompletableFuture.completedFuture(new RenewReply.Gone())
                    : !again && !now.shows(promise)
                            ? renewNow(request, true)
                            : !now.isWorth(promise.millis())
                                    ? later(now, () -> renewNow(request, false))
                                    : line.thenApply(
                                            found -> renewed(now, request, stat, found.waiting(), promise.millis())));
        });
    }

    private RenewReply renewed(Session now, RenewRequest request, Stat stat, int waiting, long promised) {
        boolean fresh = request.sequence() > sequence;
        sequence = request.isLook() ? sequence : request.sequence();
        if (!request.exact()) {
            lifetime.lastAtLeast(request.leaseMillis());
        } else if (fresh) {
            lifetime.last(request.leaseMillis());
        } else if (lifetime.remainingMillis() < request.leaseMillis()) {
            return new RenewReply.Superseded();
        }
        hold(now, waiting);
        return new Renewed(
                TokenBase.of(stat.getCzxid(), folder.describe()),
                waiting,
                promise(now, promised, request.leaseMillis(), Renewed.AS_ASKED));
    }

    /** Deletes the other's node and makes ours in one step. Called in the other's turn, and takes the first one of ours. */
    private CompletableFuture<ReleaseReply> takeOver(Contender other, AcquireRequest request) {
        return turns.add(() -> {
            if (finished || node.place() != Place.NONE) {
                return other.releaseOnly(this, request);
            }
            wanted = request;
            lifetime.lastAtLeast(3 * request.pollMillis());
            Session now = other.node.session();
            CompletableFuture<String> replaced = now.replace(
                    other.node.path(), node.beginning(now), folder.data(now, request), CreateMode.EPHEMERAL_SEQUENTIAL);
            CompletableFuture<List<String>> listed = now.children(folder.path(), null);
            return StageChain.then(replaced, (path, error) -> {
                if (path != null) {
                    other.finish();
                    node.made(path);
                    return listed.thenCompose(nodes -> {
                                QueueSnapshot line = QueueSnapshot.of(nodes);
                                return node.isIn(now, line) && node.place() == Place.QUEUED
                                        ? CompletableFuture.<AcquireReply>completedFuture(node.busy(now, line))
                                        : attempt(request, CREATE_ATTEMPTS);
                            })
                            .exceptionally(failure -> {
                                throw halfDone(failure);
                            })
                            .thenApply(reply -> new ReleaseReply(true, reply));
                }
                if (!ZooKeeperErrors.isUnknown(error)) {
                    finish();
                }
                if (OwnNode.isGone(error)) {
                    other.finish();
                    return CompletableFuture.completedFuture(new ReleaseReply(false, null));
                }
                return CompletableFuture.<ReleaseReply>failedFuture(error);
            });
        });
    }

    /**
     * The release took so long that the engine has given it up, and asked for the next id, or withdrawn that: what has become of it
     * counts. Another node for it would be nobody's, and stay for as long as the session.
     */
    private CompletableFuture<ReleaseReply> releaseOnly(Contender next, AcquireRequest request) {
        return delete().thenCompose(deleted -> {
            if (!deleted || next.finished) {
                return CompletableFuture.completedFuture(new ReleaseReply(false, null));
            }
            return next.acquireNow(request).thenApply(reply -> new ReleaseReply(true, reply));
        });
    }

    // --- what they share ---

    /** Whether it holds, as far as that can be known without a write; finds out what is not known. */
    private CompletableFuture<Boolean> whetherFirst() {
        if (finished || node.place() == Place.NONE) {
            return CompletableFuture.completedFuture(false);
        }
        Session now = folder.session();
        node.enter(now);
        if (node.isMade() && lifetime.isOver()) {
            return delete().thenApply(deleted -> false);
        }
        return switch (node.place()) {
            case NONE -> CompletableFuture.completedFuture(false);
            case FIRST -> CompletableFuture.completedFuture(true);
            case UNSURE -> node.locate(now).thenApply(found -> node.place() == Place.FIRST);
            case QUEUED -> folder.look(now).thenApply(line -> node.isIn(now, line) && node.place() == Place.FIRST);
        };
    }

    /** The node just before ours was deleted. */
    private CompletableFuture<Boolean> nextInLine(Session now) {
        // Most likely it was the first, and so are we now: with the question goes the write that a grant needs.
        Session.Promise promise = now.promise();
        CompletableFuture<@Nullable Stat> written = node.write(now, folder.data(now, requireNonNull(wanted)));
        CompletableFuture<QueueSnapshot> looked = folder.look(now);
        return written.thenCompose(stat -> stat == null
                ? done()
                : looked.thenApply(line -> {
                    if (node.isIn(now, line) && node.place() == Place.FIRST) {
                        proof = now.shows(promise)
                                ? new Proof(stat, line.waiting(), promise.millis(), promise.sent())
                                : null;
                        pushed(now);
                    }
                    return true;
                }));
    }

    /** It holds, and the engine does not know it. If that does not ask, the lock is for the next one. */
    private void pushed(Session now) {
        AcquireRequest request = requireNonNull(wanted);
        lifetime.last(Math.min(request.leaseMillis(), 3 * request.pollMillis()));
        heldIn = now.id();
        sight.begin(now, node.path(), 0, this::lost);
        folder.listener().granted(folder.name(), holderId);
    }

    private void hold(Session now, int waiting) {
        confirmed = true;
        heldIn = now.id();
        sight.begin(now, node.path(), waiting, this::lost);
    }

    /** Somebody has deleted the node. */
    private void lost() {
        finish();
        folder.listener().lost(folder.name(), holderId);
    }

    private CompletableFuture<Boolean> endIfOver() {
        if (finished || !lifetime.isOver()) {
            lifetime.goOn();
            return done();
        }
        if (node.place() == Place.NONE) {
            finish();
            return done();
        }
        CompletableFuture<Boolean> ended;
        try {
            ended = whetherFirst();
        } catch (StoreException e) {
            ended = CompletableFuture.failedFuture(e);
        }
        return ended.handle((first, error) -> {
            if (error == null && !node.isMade()) {
                finish();
            } else {
                lifetime.askAgain();
            }
            return true;
        });
    }

    /** Deletes the node; false if it was not there any more. */
    private CompletableFuture<Boolean> delete() {
        return node.delete().thenApply(deleted -> {
            finish();
            return deleted;
        });
    }

    private void nodeGone() {
        sequence = 0;
        confirmed = false;
        proof = null;
        heldIn = NOT_HELD;
        sight.close();
    }

    /** Nothing is left, and nothing more is done for this id here. */
    private void finish() {
        node.forget();
        finished = true;
        lifetime.stop();
        folder.remove(holderId, this);
    }

    /** Once more when more is known of what the leader has heard; that was a write, so that it is. Not if it is withdrawn meanwhile. */
    private <T> CompletableFuture<T> later(Session now, Supplier<CompletableFuture<T>> again) {
        return rest.then(
                now.timeoutMillis() * 1_000_000L / 16, () -> rest.isEnded() ? withdrawnMeanwhile() : again.get());
    }

    private <T> CompletableFuture<T> withdrawnMeanwhile() {
        return CompletableFuture.failedFuture(new StoreException(
                StoreException.Outcome.UNKNOWN,
                folder.describe() + ": " + holderId + " was withdrawn meanwhile",
                null));
    }

    private static long promise(Session now, long before, long askedMillis, long asAsked) {
        long promised = Math.min(before, now.longestPromiseMillis());
        return promised >= askedMillis ? asAsked : promised;
    }

    private static CompletableFuture<Boolean> done() {
        return CompletableFuture.completedFuture(true);
    }
}
