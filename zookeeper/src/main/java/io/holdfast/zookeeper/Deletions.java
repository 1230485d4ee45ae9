package io.holdfast.zookeeper;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Watcher;

/**
 * Watches nodes of one session for their deletion.
 *
 * <p>ZooKeeper keeps a watcher until it has called it, and removing one takes a request. So each node has one watcher,
 * however many receivers come and go before the node is deleted, and the watcher knows only the present receivers.
 *
 * <p>Thread-safe.
 */
final class Deletions {

    private final BiFunction<String, Watcher, ? extends CompletionStage<List<String>>> children;
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<String, Deletion> awaited = new HashMap<>(); // by path; by lock

    /** @param children lists a node's children in the session, and sets a watcher */
    Deletions(BiFunction<String, Watcher, ? extends CompletionStage<List<String>>> children) {
        this.children = children;
    }

    /**
     * Reports at most once that a node was deleted. It watches the node's children: the node has none, so only its own
     * deletion triggers the watch, and its holder's renewals do not. The report may be about an earlier node of the
     * same name.
     *
     * @param gone receives true if the node is gone, false if it cannot be watched now
     * @param watched runs when the server has promised to report the deletion
     * @return ends the report; to be run when it is no longer needed
     */
    Runnable await(String path, Consumer<Boolean> gone, Runnable watched) {
        Object receiver = new Object();
        Deletion deletion = join(path, receiver, gone);
        // Asks even if the node is already watched: the server may have reported its deletion earlier.
        CompletionStage<List<String>> asked = children.apply(path, deletion.watcher);
        asked.whenComplete((nodes, error) -> {
            if (error == null) {
                if (deletion.stands(receiver)) {
                    watched.run();
                }
            } else if (ZooKeeperErrors.is(error, Code.NONODE)) {
                deletion.happened();
            } else {
                deletion.failed(receiver);
            }
        });
        return () -> deletion.leave(receiver);
    }

    /** Returns a watcher that forwards changes of nodes, but not those of the connection. */
    static Watcher watcher(Runnable onChange) {
        return event -> {
            if (event.getType() != Watcher.Event.EventType.None) {
                onChange.run();
            }
        };
    }

    private Deletion join(String path, Object receiver, Consumer<Boolean> gone) {
        lock.lock();
        try {
            Deletion deletion = awaited.computeIfAbsent(path, Deletion::new);
            deletion.receivers.put(receiver, gone);
            return deletion;
        } finally {
            lock.unlock();
        }
    }

    /** The deletion of one node; in the map until it happens, or until it cannot be watched and has no receivers. */
    private final class Deletion {
        private final String path;
        private final Map<Object, Consumer<Boolean>> receivers = new LinkedHashMap<>(); // by lock
        private final Watcher watcher = watcher(this::happened);
        private boolean stands; // by lock; whether the server has promised to report it

        Deletion(String path) {
            this.path = path;
        }

        void happened() {
            List<Consumer<Boolean>> all;
            lock.lock();
            try {
                awaited.remove(path, this);
                all = new ArrayList<>(receivers.values());
                receivers.clear();
            } finally {
                lock.unlock();
            }
            all.forEach(gone -> gone.accept(true));
        }

        /** Notes that the server watches the node. Returns whether that receiver is still there. */
        boolean stands(Object receiver) {
            lock.lock();
            try {
                stands = true;
                return receivers.containsKey(receiver);
            } finally {
                lock.unlock();
            }
        }

        void failed(Object receiver) {
            Consumer<Boolean> gone;
            lock.lock();
            try {
                gone = receivers.remove(receiver);
                if (receivers.isEmpty() && !stands) {
                    awaited.remove(path, this);
                }
            } finally {
                lock.unlock();
            }
            if (gone != null) {
                gone.accept(false);
            }
        }

        void leave(Object receiver) {
            lock.lock();
            try {
                receivers.remove(receiver);
            } finally {
                lock.unlock();
            }
        }
    }
}
