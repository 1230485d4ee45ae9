package io.holdfast.zookeeper;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.jspecify.annotations.Nullable;

/**
 * Watches nodes of one session, by one kind of watch.
 *
 * <p>ZooKeeper keeps a watcher until it has called it, and removing one takes a request. So each node has one watcher,
 * however many receivers come and go before the event, and the watcher knows only the present receivers.
 *
 * <p>Thread-safe.
 *
 * @param <T> what the command returns that sets a watch
 */
final class Watches<T> {

    /** A command that sets a watch. */
    interface Question<T> {

        CompletionStage<T> ask(String path, @Nullable Watcher watcher);
    }

    /** What a receiver learns of a node. */
    enum Report {
        /** The node was deleted, or there was none when the servers were asked. */
        GONE,
        /** Another event has happened. */
        CHANGED,
        /** The node cannot be watched now. */
        UNWATCHED
    }

    private final Question<T> question;
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<String, Watch> awaited = new HashMap<>(); // by path; by lock

    Watches(Question<T> question) {
        this.question = question;
    }

    /**
     * Reports at most one event of a node. The report may be about an earlier node of the same name.
     *
     * @param event receives the report
     * @param watched receives the command's answer when the server has promised to report the event
     * @return ends the report; to be run when it is no longer needed
     */
    Runnable await(String path, Consumer<Report> event, Consumer<T> watched) {
        Object receiver = new Object();
        Watch watch = join(path, receiver, event);
        // Asks even if the node is already watched: the server may have reported the event earlier.
        CompletionStage<T> asked = question.ask(path, watch.watcher);
        asked.whenComplete((answer, error) -> {
            if (error == null) {
                if (watch.stands(receiver)) {
                    watched.accept(answer);
                }
            } else if (ZooKeeperErrors.is(error, Code.NONODE)) {
                watch.happened(Report.GONE);
            } else {
                watch.failed(receiver);
            }
        });
        return () -> watch.leave(receiver);
    }

    /** Returns a watcher that forwards changes of nodes, but not those of the connection. */
    static Watcher watcher(Consumer<Report> onChange) {
        return event -> {
            if (event.getType() != EventType.None) {
                onChange.accept(event.getType() == EventType.NodeDeleted ? Report.GONE : Report.CHANGED);
            }
        };
    }

    private Watch join(String path, Object receiver, Consumer<Report> event) {
        lock.lock();
        try {
            Watch watch = awaited.computeIfAbsent(path, Watch::new);
            watch.receivers.put(receiver, event);
            return watch;
        } finally {
            lock.unlock();
        }
    }

    /** The watch of one node; in the map until the event, or until it cannot be set and has no receivers. */
    private final class Watch {
        private final String path;
        private final Map<Object, Consumer<Report>> receivers = new LinkedHashMap<>(); // by lock
        private final Watcher watcher = watcher(this::happened);
        private boolean stands; // by lock; whether the server has promised to report the event

        Watch(String path) {
            this.path = path;
        }

        void happened(Report report) {
            List<Consumer<Report>> all;
            lock.lock();
            try {
                awaited.remove(path, this);
                all = new ArrayList<>(receivers.values());
                receivers.clear();
            } finally {
                lock.unlock();
            }
            all.forEach(event -> event.accept(report));
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
            Consumer<Report> event;
            lock.lock();
            try {
                event = receivers.remove(receiver);
                if (receivers.isEmpty() && !stands) {
                    awaited.remove(path, this);
                }
            } finally {
                lock.unlock();
            }
            if (event != null) {
                event.accept(Report.UNWATCHED);
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
