package io.holdfast.zookeeper;

import static java.util.Objects.requireNonNull;

import io.holdfast.spi.AcquireReply;
import io.holdfast.spi.AcquireReply.Busy;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.ReleaseReply;
import io.holdfast.spi.ReleaseRequest;
import io.holdfast.spi.RenewReply;
import io.holdfast.spi.RenewRequest;
import io.holdfast.spi.StoreException;
import io.holdfast.zookeeper.OwnNode.Place;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * A holder id of this client: executes its commands and events by means of its node in the folder of a lock or a pool.
 * The id holds when its node fits ({@link QueueSnapshot}).
 *
 * <p>Invariant: a grant or renewal is answered only after this session committed a write to the node, the create or a
 * later one. Its time is counted from the sending of that write. A renewal writes while the node fits, and so does a
 * grant of a pool for which the node behind it waits.
 *
 * <p>Commands and events run in a {@link SerialQueue}. Only its work uses the fields that are not final.
 */
final class Contender {

    /** The contenders of one store. */
    interface Registry {

        /** Returns the contender of a holder id, a new one if there is none. */
        Contender contender(Folder folder, String holderId);

        /** Withdraws a holder id, if there is a contender of it, and returns whether it held. */
        CompletableFuture<Boolean> abandonKnown(String name, String holderId);

        void remove(Folder folder, String holderId, Contender contender);
    }

    /** The servers remove empty folders. If that happens more often in a row, something else removes them. */
    private static final int CREATE_ATTEMPTS = 20;

    private final StoreAccess store;
    private final Registry contenders;
    private final Folder folder;
    private final String holderId;
    private final SerialQueue work = new SerialQueue();
    private final HoldState hold;
    private final OwnNode node;
    private final RetryPause pause;

    private boolean finished;
    private @Nullable AcquireRequest wanted;

    Contender(StoreAccess store, Registry contenders, Folder folder, String holderId) {
        this.store = store;
        this.contenders = contenders;
        this.folder = folder;
        this.holderId = holderId;
        this.hold = new HoldState(
                store, folder, holderId, work, () -> work.addEvent(this::endIfOver), this::deletedByOthers);
        this.node = new OwnNode(store, folder, holderId, work, hold::nodeGone, this::mayFit, this::looked);
        this.pause = new RetryPause(store, holderId);
    }

    // --- commands ---

    CompletableFuture<AcquireReply> acquire(AcquireRequest request) {
        return work.add(() -> finished ? acquireAgain(request) : acquireNow(request));
    }

    CompletableFuture<RenewReply> renew(RenewRequest request) {
        return work.add(() -> renewNow(request));
    }

    CompletableFuture<ReleaseReply> release(ReleaseRequest request) {
        return work.add(() -> holds().thenCompose(held -> {
            if (!held) {
                return completed(ReleaseReply.notHeld());
            }
            AcquireRequest requeue = request.requeue();
            return requeue == null
                    ? delete().thenApply(ReleaseReply::of)
                    : contenders.contender(folder, requeue.holderId()).takeOver(this, requeue);
        }));
    }

    /** Withdraws the id, and returns whether it held. */
    CompletableFuture<Boolean> abandon() {
        // If this contender has finished, an acquire that came before may have begun another one for the id.
        CompletableFuture<Boolean> withdrawn =
                work.add(() -> finished ? contenders.abandonKnown(folder.name(), holderId) : abandonNow());
        pause.end();
        return withdrawn;
    }

    private CompletableFuture<Boolean> abandonNow() {
        return holds().thenCompose(
                        held -> !node.isMade() ? completed(false) : delete().thenApply(deleted -> deleted && held))
                .whenComplete((held, error) -> {
                    if (error == null) {
                        finish();
                    }
                });
    }

    // --- events ---

    /** Handles the end of a session. All its nodes are gone, or will be soon. */
    void sessionOver(long id) {
        if (hold.isIn(id)) {
            store.tell(listener -> listener.lost(folder.name(), holderId));
        }
        work.addTask(() -> node.sessionOver(id));
    }

    /** Stops all timers, as the store is closed. */
    void stop() {
        hold.stop();
    }

    /** Returns how long the hold lasts without a renewal, in milliseconds; zero if there is no hold. */
    long remainingMillis() {
        return hold.remainingMillis();
    }

    private CompletableFuture<Boolean> mayFit(Session now) {
        if (folder.isPool()) {
            return folder.look(now).thenCompose(queue -> looked(now, queue));
        }
        // The node before it was most likely the first, so ours is now. A grant rests on the create if that is recent.
        // Otherwise it needs a write, which is sent with the look.
        QueueSnapshot known = node.place() == Place.FITS ? node.alone() : null;
        Proof recent = hold.recentProof();
        CompletableFuture<@Nullable Proof> proving;
        if (recent != null) {
            proving = (known != null ? completed(known) : folder.look(now)).thenApply(recent::seeing);
        } else {
            proving = node.write(now, requireNonNull(wanted).leaseMillis(), known);
        }
        return proving.thenApply(proof -> {
            if (proof != null && node.isIn(now, proof.queue()) && node.place() == Place.FITS) {
                pushed(now, recent != null || now.shows(proof.promise()) ? proof : null);
            }
            return true;
        });
    }

    /** Grants to a waiter of a pool if its node fits. Writes only then, by an invariant of {@link OwnNode}. */
    private CompletableFuture<Boolean> looked(Session now, QueueSnapshot queue) {
        if (!node.isIn(now, queue) || node.place() != Place.FITS) {
            return completed(true);
        }
        Proof recent = hold.recentProof();
        if (recent != null && !node.isAwaited(queue)) {
            pushed(now, recent.seeing(queue));
            return completed(true);
        }
        hold.takeProof(); // if the write fails, the next acquire writes
        return node.write(now, requireNonNull(wanted).leaseMillis(), queue).thenApply(proof -> {
            if (proof != null) {
                pushed(now, now.shows(proof.promise()) ? proof : null);
            }
            return true;
        });
    }

    private void pushed(Session now, @Nullable Proof proof) {
        hold.pushed(now, node, requireNonNull(wanted), proof);
    }

    private void deletedByOthers() {
        finish();
        store.tell(listener -> listener.lost(folder.name(), holderId));
    }

    private CompletableFuture<Boolean> endIfOver() {
        if (finished || !hold.lifetime().isOver()) {
            hold.lifetime().rearm();
            return completed(true);
        }
        // In a stage, as holds() throws while there is no connection: then too the timer must be set again.
        return completed(true).thenCompose(due -> holds()).handle((held, error) -> {
            if (error == null && !node.isMade()) {
                finish();
            } else {
                hold.lifetime().tryAgain();
            }
            return true;
        });
    }

    // --- acquire ---

    /** Acquires with a new contender of the same id, as this one has finished. */
    private CompletableFuture<AcquireReply> acquireAgain(AcquireRequest request) {
        return contenders.contender(folder, holderId).acquire(request);
    }

    private CompletableFuture<AcquireReply> acquireNow(AcquireRequest request) {
        wanted = request;
        if (node.isMade() && hold.lifetime().isOver()) {
            // A withdrawal runs after this work, and would not end the pauses of the new contender.
            return delete().thenCompose(deleted -> pause.unlessEnded(() -> acquireAgain(request)));
        }
        hold.waiting(request);
        boolean known = node.place() != Place.NONE;
        CompletableFuture<AcquireReply> asked = attempt(request, CREATE_ATTEMPTS);
        return known ? asked : asked.exceptionally(this::failHalfDone);
    }

    /**
     * Fails an acquire. If there is a node, only a later step was refused: the outcome is unknown then, so that the
     * engine withdraws the id.
     */
    private AcquireReply failHalfDone(Throwable error) {
        StoreException why = store.failure(error);
        throw node.place() == Place.NONE || why.outcome() == StoreException.Outcome.UNKNOWN
                ? why
                : new StoreException(StoreException.Outcome.UNKNOWN, String.valueOf(why.getMessage()), why);
    }

    private CompletableFuture<AcquireReply> attempt(AcquireRequest request, int attempts) {
        if (attempts == 0) {
            throw new IllegalStateException(
                    folder.path() + " is removed again and again (expected: nobody tidies up there)");
        }
        Session now = store.session();
        node.enter(now);
        if (node.isBeyondLimit()) {
            store.fullFolders().add(folder);
            return node.delete().thenCompose(deleted -> attempt(request, attempts - 1));
        }
        String twin = node.twin();
        if (twin != null) {
            // No other client must wait behind a node that can never be used.
            StoreException why = store.errors().equalNumbers(folder, node.path(), twin);
            return delete().thenCompose(deleted -> CompletableFuture.failedFuture(why));
        }
        if (node.place() == Place.NONE && store.fullFolders().contains(folder)) {
            return beginAnew(now, request, attempts);
        }
        return switch (node.place()) {
            case NONE -> request.queue() ? create(now, request, attempts) : createIfFree(now, request, attempts);
            case UNSURE -> node.locate(now).thenCompose(found -> attempt(request, attempts - 1));
            case QUEUED -> poll(now, request, attempts);
            case FITS -> grantFitting(now, request, attempts, null);
        };
    }

    private CompletableFuture<AcquireReply> poll(Session now, AcquireRequest request, int attempts) {
        Busy known = node.known(request.pollMillis());
        if (known != null) {
            return completed(known);
        }
        return folder.look(now).thenCompose(queue -> {
            if (!node.isIn(now, queue)) {
                return attempt(request, attempts - 1);
            }
            return node.place() == Place.FITS
                    ? grantFitting(now, request, attempts, queue)
                    : completed(node.busy(now, queue));
        });
    }

    /** Acquires without a wait. Looks at the queue first, so that a useless node does not disturb it. */
    private CompletableFuture<AcquireReply> createIfFree(Session now, AcquireRequest request, int attempts) {
        return folder.lookAtNewest(now).thenCompose(queue -> {
            if (queue.hasRoom(request.weight(), request.capacity())) {
                return create(now, request, attempts);
            }
            finish();
            return completed(new Busy(now.longestPromiseMillis(), queue.waiting(), queue.holder()));
        });
    }

    /** Acquires in a folder that is full: without a node while others have one there, then in a new folder. */
    private CompletableFuture<AcquireReply> beginAnew(Session now, AcquireRequest request, int attempts) {
        return store.fullFolders().replace(now, folder).thenCompose(queue -> {
            if (queue.isEmpty()) {
                return attempt(request, attempts - 1);
            }
            if (!request.queue()) {
                finish();
            }
            return completed(new Busy(now.longestPromiseMillis(), queue.size(), queue.holder()));
        });
    }

    private CompletableFuture<AcquireReply> create(Session now, AcquireRequest request, int attempts) {
        LastHeld.Node last = store.lastHeld().take(folder);
        Session.Promise promise = now.promise();
        CompletableFuture<@Nullable Stat> created = node.create(now, request);
        // Sent together with the create, but executed after it, so this look sees the new node. Not needed most likely
        // if nobody came between the last two nodes of this client.
        CompletableFuture<QueueSnapshot> looked = last != null && last.followed() ? null : folder.look(now);
        return created.thenCompose(stat -> {
            if (stat == null) {
                return Folder.make(now, folder.path()).thenCompose(there -> attempt(request, attempts - 1));
            }
            boolean alone = last != null && node.isAloneAfter(last, stat);
            CompletableFuture<QueueSnapshot> seen =
                    looked != null ? looked : alone ? completed(node.alone()) : folder.look(now);
            return seen.thenCompose(queue -> {
                if (!node.isIn(now, queue)) {
                    return attempt(request, attempts - 1);
                }
                if (node.place() == Place.FITS) {
                    return now.shows(promise)
                            ? granted(now, request, new Proof(stat, queue, promise))
                            : grant(now, request, attempts, node.write(now, request.leaseMillis(), queue));
                }
                Busy busy = node.busy(now, queue);
                if (now.shows(promise)) {
                    hold.made(new Proof(stat, queue, promise));
                }
                if (!request.queue()) {
                    return delete().thenApply(deleted -> busy);
                }
                node.announce(now, queue);
                return completed(busy);
            });
        });
    }

    /**
     * Grants an acquire whose node fits: by the last write if that is recent, which saves one.
     *
     * @param seen the queue if it was just seen, or null
     */
    private CompletableFuture<AcquireReply> grantFitting(
            Session now, AcquireRequest request, int attempts, @Nullable QueueSnapshot seen) {
        Proof made = hold.takeProof();
        if (made == null || (seen != null && node.isAwaited(seen))) {
            return grant(now, request, attempts, node.prove(now, request.leaseMillis(), seen));
        }
        return granted(now, request, seen == null ? made : made.seeing(seen));
    }

    /** @param proving the write that a grant needs; completes with null if the node is gone */
    private CompletableFuture<AcquireReply> grant(
            Session now, AcquireRequest request, int attempts, CompletableFuture<@Nullable Proof> proving) {
        return proving.thenCompose(
                proof -> proof == null ? attempt(request, attempts - 1) : granted(now, request, proof));
    }

    private CompletableFuture<AcquireReply> granted(Session now, AcquireRequest request, Proof proof) {
        if (!now.isWorth(proof.promise())) {
            return later(now, () -> attempt(request, CREATE_ATTEMPTS));
        }
        long base;
        try {
            base = TokenBase.of(proof.stat().getCzxid(), store.describe());
        } catch (RuntimeException e) {
            // No other client must wait behind a node that can never be used.
            return delete().thenCompose(deleted -> CompletableFuture.failedFuture(e));
        }
        return completed(hold.granted(now, node, request, proof, base));
    }

    // --- renew, release ---

    private CompletableFuture<RenewReply> renewNow(RenewRequest request) {
        return holds().thenCompose(held -> {
            if (!held) {
                return completed(new RenewReply.Gone());
            }
            if (hold.supersedes(request)) {
                return completed(new RenewReply.Superseded());
            }
            Session now = node.session();
            // A look requests no lease, so the one in the node's data must stay true.
            long lease = request.isLook() ? hold.lifetime().remainingMillis() : request.leaseMillis();
            return node.prove(now, lease, null).thenCompose(proof -> {
                if (proof == null) {
                    return completed(new RenewReply.Gone());
                }
                return now.isWorth(proof.promise())
                        ? completed(hold.renewed(now, node, request, proof))
                        : later(now, () -> renewNow(request));
            });
        });
    }

    /**
     * Deletes the other contender's node and creates this one's in one step. Runs inside the other contender's queued
     * work, as this contender's first work.
     */
    private CompletableFuture<ReleaseReply> takeOver(Contender other, AcquireRequest request) {
        return work.add(() -> {
            if (finished || node.place() != Place.NONE || store.fullFolders().contains(folder)) {
                return other.releaseOnly(this, request);
            }
            wanted = request;
            hold.waiting(request);
            Session now = other.node.session();
            CompletableFuture<Boolean> replaced = node.replace(now, other.node, request);
            CompletableFuture<QueueSnapshot> looked = folder.look(now);
            return replaced.whenComplete((made, error) -> {
                        if (node.place() == Place.NONE) {
                            finish();
                        }
                    })
                    .thenCompose(made -> {
                        other.finish();
                        if (!made) {
                            return completed(ReleaseReply.notHeld());
                        }
                        return looked.thenCompose(queue -> {
                                    if (!node.isIn(now, queue) || node.place() != Place.QUEUED) {
                                        return attempt(request, CREATE_ATTEMPTS);
                                    }
                                    Busy busy = node.busy(now, queue);
                                    node.announce(now, queue);
                                    return CompletableFuture.<AcquireReply>completedFuture(busy);
                                })
                                .exceptionally(this::failHalfDone)
                                .thenApply(reply -> ReleaseReply.requeued(reply));
                    });
        });
    }

    /**
     * Releases without creating the next node. Either the folder is full, or the release took so long that the engine
     * has given it up, and has acquired with the next id or withdrawn that. A second node for the next id would have no
     * owner, and stay for as long as the session.
     */
    private CompletableFuture<ReleaseReply> releaseOnly(Contender next, AcquireRequest request) {
        return delete().thenCompose(deleted -> {
            if (!deleted || next.finished) {
                return completed(ReleaseReply.notHeld());
            }
            return next.acquireNow(request).thenApply(reply -> ReleaseReply.requeued(reply));
        });
    }

    // --- what they share ---

    /** Returns whether the id holds, as far as that can be known without a write; asks the servers if necessary. */
    private CompletableFuture<Boolean> holds() {
        if (finished || node.place() == Place.NONE) {
            return completed(false);
        }
        Session now = store.session();
        node.enter(now);
        if (node.isMade() && hold.lifetime().isOver()) {
            return delete().thenApply(deleted -> false);
        }
        return switch (node.place()) {
            case NONE -> completed(false);
            case FITS -> completed(true);
            case UNSURE -> node.locate(now).thenApply(found -> node.place() == Place.FITS);
            case QUEUED -> folder.look(now).thenApply(queue -> node.isIn(now, queue) && node.place() == Place.FITS);
        };
    }

    /** Deletes the node; returns false if it was not there any more. */
    private CompletableFuture<Boolean> delete() {
        LastHeld.Node first = hold.first();
        return node.delete().thenApply(deleted -> {
            if (deleted && first != null) {
                store.lastHeld().left(folder, first);
            }
            finish();
            return deleted;
        });
    }

    /** Ends this contender: it has no node, and does nothing more. */
    private void finish() {
        node.forget();
        finished = true;
        hold.lifetime().stop();
        contenders.remove(folder, holderId, this);
    }

    /**
     * Retries after a pause, when a longer promise is possible: the last try was a write, and the leader learns of it.
     * Fails if the id is withdrawn in the meantime.
     */
    private <T> CompletableFuture<T> later(Session now, Supplier<CompletableFuture<T>> next) {
        return pause.then(now.timeoutMillis() * 1_000_000L / 16, next);
    }

    private static <T> CompletableFuture<T> completed(T value) {
        return CompletableFuture.completedFuture(value);
    }
}
