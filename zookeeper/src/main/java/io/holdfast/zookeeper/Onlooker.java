package io.holdfast.zookeeper;

import io.holdfast.spi.ForceReply;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.StoreState;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.ToLongFunction;
import org.apache.zookeeper.KeeperException.Code;
import org.jspecify.annotations.Nullable;

/** Looks at names for people, and ends holds by force. Needs no node of its own. */
final class Onlooker {

    /** The number of looks at a name that changes hands between two requests. */
    private static final int ATTEMPTS = 20;

    /** A holder as a look has shown it, and its node as it was read afterwards; null if it had gone by then. */
    private record Seen(String holderId, int weight, Session.@Nullable Node node) {}

    private final StoreAccess store;

    Onlooker(StoreAccess store) {
        this.store = store;
    }

    /**
     * Returns the state of a name.
     *
     * @param own returns for a holder id how long this client's hold lasts, in milliseconds; zero if it has none
     */
    CompletableFuture<StoreState> inspect(Folder folder, ToLongFunction<String> own) {
        return inspect(folder, own, store.session(), ATTEMPTS);
    }

    private CompletableFuture<StoreState> inspect(
            Folder folder, ToLongFunction<String> own, Session session, int attempts) {
        return folder.lookAtNewest(session).thenCompose(queue -> {
            if (queue.isEmpty()) {
                return CompletableFuture.completedFuture(StoreState.free(0));
            }
            for (int i = 0; i < queue.holders(); i++) {
                String twin = queue.twin(i);
                if (twin != null) {
                    return CompletableFuture.failedFuture(store.errors().equalNumbers(folder, queue.node(i), twin));
                }
            }
            return read(folder, session, queue).thenCompose(holders -> {
                boolean changed = holders.stream().allMatch(holder -> holder.node() == null);
                return changed && attempts > 0
                        ? inspect(folder, own, session, attempts - 1)
                        : CompletableFuture.completedFuture(state(folder, own, session, queue, holders));
            });
        });
    }

    private static CompletableFuture<List<Seen>> read(Folder folder, Session session, QueueSnapshot queue) {
        CompletableFuture<List<Seen>> all = CompletableFuture.completedFuture(new ArrayList<>());
        for (int i = 0; i < queue.holders(); i++) {
            String holderId = queue.holder(i);
            int weight = queue.weight(i);
            CompletableFuture<Seen> one = session.read(folder.path(queue.node(i)))
                    .thenApply(node -> new Seen(holderId, weight, node))
                    .exceptionallyCompose(error -> ZooKeeperErrors.is(error, Code.NONODE)
                            ? CompletableFuture.completedFuture(new Seen(holderId, weight, null))
                            : CompletableFuture.failedFuture(error));
            all = all.thenCombine(one, (before, seen) -> {
                before.add(seen);
                return before;
            });
        }
        return all;
    }

    private static StoreState state(
            Folder folder, ToLongFunction<String> own, Session session, QueueSnapshot queue, List<Seen> holders) {
        List<StoreState.Held> held = new ArrayList<>();
        for (Seen seen : holders) {
            Session.Node node = seen.node();
            if (node != null) {
                long known = own.applyAsLong(seen.holderId());
                long remaining = known > 0 ? known : remainingMillis(folder, session, node, newestMillis(holders));
                held.add(new StoreState.Held(
                        seen.holderId(), seen.weight(), remaining, node.stat().getCzxid()));
            }
        }
        StoreState.Held first = held.stream()
                .min(Comparator.comparingLong(StoreState.Held::remainingMillis))
                // The name changes hands between any two requests: only its holder at the first one is known.
                .orElseGet(() -> new StoreState.Held(queue.holder(), 0, session.timeoutMillis(), 0));
        int used = held.stream().mapToInt(StoreState.Held::weight).sum();
        return folder.isPool()
                ? new StoreState(first.holderId(), first.remainingMillis(), first.base(), queue.waiting(), used, held)
                : new StoreState(first.holderId(), first.remainingMillis(), first.base(), queue.waiting());
    }

    /** Returns when the servers executed the latest of the writes, by the clock of a server: it is later now. */
    private static long newestMillis(List<Seen> holders) {
        return holders.stream()
                .mapToLong(seen -> seen.node() == null ? 0 : seen.node().stat().getMtime())
                .max()
                .orElse(0);
    }

    /**
     * Returns how long another client's hold lasts at most. It ends with the session, as far as anybody can see. Of a
     * pool the first end is wanted, so the lease counts, too.
     */
    private static long remainingMillis(Folder folder, Session session, Session.Node node, long newestMillis) {
        long life = OwnNode.sessionMillis(node.data(), session.timeoutMillis());
        if (!folder.isPool()) {
            return life;
        }
        long age = newestMillis - node.stat().getMtime();
        return Math.max(1, Math.min(life, OwnNode.leaseMillis(node.data(), life) - age));
    }

    /** @param expected the holder whose hold is to end; null for all that hold the name */
    CompletableFuture<ForceReply> forceRelease(Folder folder, @Nullable String expected) {
        return forceRelease(folder, expected, store.session(), ATTEMPTS);
    }

    private CompletableFuture<ForceReply> forceRelease(
            Folder folder, @Nullable String expected, Session session, int attempts) {
        return folder.lookAtNewest(session).thenCompose(queue -> {
            if (queue.isEmpty()) {
                return CompletableFuture.completedFuture(new ForceReply.Free());
            }
            List<String> ending = new ArrayList<>();
            for (int i = 0; i < queue.holders(); i++) {
                if (expected == null || expected.equals(queue.holder(i))) {
                    ending.add(queue.node(i));
                }
            }
            if (ending.isEmpty()) {
                return CompletableFuture.completedFuture(new ForceReply.HeldBy(queue.holder()));
            }
            if (attempts == 0) {
                return CompletableFuture.failedFuture(new StoreException(
                        StoreException.Outcome.NOT_EXECUTED,
                        store.describe() + ": " + folder.described()
                                + " changes hands faster than it can be released by force (expected: another try)",
                        null));
            }
            String holder = expected != null ? expected : queue.holder();
            return delete(folder, session, ending)
                    .thenCompose(ended -> ended
                            ? CompletableFuture.completedFuture(new ForceReply.Ended(holder))
                            : forceRelease(folder, expected, session, attempts - 1));
        });
    }

    /**
     * Deletes nodes of holders, and returns whether one of them was there. No other node ever has the name of one of
     * them: so the deletion is the comparison of the holder, too.
     */
    private static CompletableFuture<Boolean> delete(Folder folder, Session session, List<String> nodes) {
        CompletableFuture<Boolean> any = CompletableFuture.completedFuture(false);
        for (String node : nodes) {
            CompletableFuture<Boolean> one = session.delete(folder.path(node))
                    .exceptionallyCompose(error -> ZooKeeperErrors.is(error, Code.NONODE)
                            ? CompletableFuture.completedFuture(false)
                            : CompletableFuture.failedFuture(error));
            any = any.thenCombine(one, (before, deleted) -> before || deleted);
        }
        return any;
    }
}
