package io.holdfast.zookeeper;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;

/**
 * Who wants to be told of the deletion of which node, in one session.
 *
 * <p>ZooKeeper keeps a watcher until it has told it something, and to withdraw one takes a request. So there is one for each node, however
 * many come and go before that is deleted, and it knows those only who still want to be told.
 *
 * <p>Thread-safe.
 */
final class Deletions {

    private final Session session;
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<String, Deletion> awaited = new HashMap<>(); // by path; by lock

    Deletions(Session session) {
        this.session = session;
    }

    /**
     * Tells once, or never, that a node was deleted: a node without children has a watch on its children triggered by
     * nothing else, not by its holder's renewals. It may be told of an earlier node of the same name.
     *
     * @param told with true if it is gone, with false if it cannot be watched now
     * @param watched when the server has promised to tell
     * @return to be run by who does not want to be told any more
     */
    Runnable await(String path, Consumer<Boolean> told, Runnable watched) {
        Awaiter awaiter = new Awaiter(told);
        Deletion deletion = join(path, awaiter);
        // Asked again also if it is watched: only so is it sure that the server has not told already.
        CompletionStage<List<String>> asked = session.children(path, deletion);
        asked.whenComplete((nodes, error) -> {
            if (error == null) {
                if (deletion.stands(awaiter)) {
                    watched.run();
                }
            } else if (ZooKeeperErrors.is(error, Code.NONODE)) {
                deletion.happened();
            } else {
                deletion.failed(awaiter);
            }
        });
        return () -> deletion.leave(awaiter);
    }

    private Deletion join(String path, Awaiter awaiter) {
        lock.lock();
        try {
            Deletion deletion = awaited.computeIfAbsent(path, Deletion::new);
            deletion.awaiters.add(awaiter);
            return deletion;
        } finally {
            lock.unlock();
        }
    }

    /** One who wants to be told. */
    private static final class Awaiter {
        private final Consumer<Boolean> told;

        Awaiter(Consumer<Boolean> told) {
            this.told = told;
        }
    }

    /** Of one node; in the map until it has happened, or cannot be watched and nobody waits for it. */
    private final class Deletion implements Watcher {
        private final String path;
        private final Set<Awaiter> awaiters = new LinkedHashSet<>(); // by lock
        private boolean stands; // by lock; the server has promised to tell

        Deletion(String path) {
            this.path = path;
        }

        @Override
        public void process(WatchedEvent event) {
            // The others say how the connection is doing.
            if (event.getType() != Watcher.Event.EventType.None) {
                happened();
            }
        }

        void happened() {
            List<Awaiter> all;
            lock.lock();
            try {
                awaited.remove(path, this);
                all = new ArrayList<>(awaiters);
                awaiters.clear();
            } finally {
                lock.unlock();
            }
            all.forEach(awaiter -> awaiter.told.accept(true));
        }

        /** Whether that one still wants to be told. */
        boolean stands(Awaiter awaiter) {
            lock.lock();
            try {
                stands = true;
                return awaiters.contains(awaiter);
            } finally {
                lock.unlock();
            }
        }

        void failed(Awaiter awaiter) {
            boolean told;
            lock.lock();
            try {
                told = awaiters.remove(awaiter);
                if (awaiters.isEmpty() && !stands) {
                    awaited.remove(path, this);
                }
            } finally {
                lock.unlock();
            }
            if (told) {
                awaiter.told.accept(false);
            }
        }

        void leave(Awaiter awaiter) {
            lock.lock();
            try {
                awaiters.remove(awaiter);
            } finally {
                lock.unlock();
            }
        }
    }
}
