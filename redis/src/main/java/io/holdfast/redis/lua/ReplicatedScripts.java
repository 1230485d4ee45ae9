package io.holdfast.redis.lua;

import io.holdfast.redis.connect.RedisConnections;
import io.holdfast.redis.connect.StageGuard;
import io.holdfast.redis.server.RedisErrors;
import io.holdfast.redis.server.RedisSettings;
import io.lettuce.core.api.StatefulRedisConnection;
import java.nio.channels.ClosedChannelException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Acquisitions whose holds replicas must have before their leases are handed out.
 *
 * <p>WAIT counts only what was written before on its own connection, and holds up what comes after it there. So there is
 * one more connection to each master, for acquisitions alone, and they go in groups: those that have come while a group is
 * under way are sent together, and one WAIT follows for all of them that were granted. An acquisition that confirms a
 * grant pushed by somebody else's release writes in any case (see acquire.lua): the order of replication is that of the
 * writes, so a replica that has this one has the grant.
 *
 * <p>If too few replicas confirm in half of the command timeout, the holds of the group are given back.
 */
public final class ReplicatedScripts {

    private static final int GROUP_MAX = 200;

    private final RedisConnections connections;
    private final Scripts scripts;
    private final RedisErrors errors;
    private final int needed;
    private final Duration patience;
    private final ConcurrentHashMap<Object, Lane> lanes = new ConcurrentHashMap<>();
    private volatile boolean closed;

    ReplicatedScripts(RedisSettings settings, RedisConnections connections, Scripts scripts, RedisErrors errors) {
        this.connections = connections;
        this.scripts = scripts;
        this.errors = errors;
        this.needed = settings.minReplicas();
        this.patience = settings.timeout().dividedBy(2);
    }

    <T> void run(
            LuaScript script,
            String[] keys,
            String[] args,
            Predicate<List<Object>> granted,
            Scripts.Decoder<T> decoder,
            CompletableFuture<T> outcome) {
        Task task = new Task(script, keys, args, granted);
        task.answer().whenComplete((answer, error) -> {
            if (error != null) {
                connections.failed(keys[0], error);
                outcome.completeExceptionally(errors.of(error));
                return;
            }
            try {
                decoder.decode(answer, outcome);
            } catch (Throwable e) {
                outcome.completeExceptionally(errors.of(e));
            }
        });
        if (closed) {
            task.reply.completeExceptionally(errors.closed(null));
            return;
        }
        lanes.computeIfAbsent(connections.server(keys[0]), server -> new Lane()).add(task);
    }

    void close() {
        closed = true;
        lanes.values().forEach(Lane::disconnect);
    }

    /** One acquisition. */
    private static final class Task {

        final LuaScript script;
        final String[] keys;
        final String[] args;
        final Predicate<List<Object>> granted;
        final CompletableFuture<List<Object>> reply = new CompletableFuture<>();

        /** Whether it was put back once. Only touched by the group that it is in. */
        boolean again;

        Task(LuaScript script, String[] keys, String[] args, Predicate<List<Object>> granted) {
            this.script = script;
            this.keys = keys;
            this.args = args;
            this.granted = granted;
        }

        CompletionStage<List<Object>> answer() {
            return reply;
        }
    }

    /** What goes to one server: one group at a time. */
    private final class Lane {

        private final ReentrantLock lock = new ReentrantLock();
        private final Queue<Task> waiting = new ArrayDeque<>(); // by lock
        private boolean busy; // by lock: a group is under way
        private @Nullable CompletionStage<StatefulRedisConnection<String, String>> connecting; // by lock

        void add(Task task) {
            lock.lock();
            try {
                waiting.add(task);
                if (busy) {
                    return;
                }
                busy = true;
            } finally {
                lock.unlock();
            }
            next();
        }

        /** To be called by whoever set {@link #busy}, or has ended a group. */
        private void next() {
            List<Task> group = new ArrayList<>();
            CompletionStage<StatefulRedisConnection<String, String>> link;
            lock.lock();
            try {
                while (group.size() < GROUP_MAX && !waiting.isEmpty()) {
                    group.add(waiting.remove());
                }
                if (group.isEmpty()) {
                    busy = false;
                    return;
                }
                link = connecting;
                if (link == null || isClosed(link)) {
                    link = connections.dedicated(group.get(0).keys[0]);
                    connecting = link;
                }
            } finally {
                lock.unlock();
            }
            link.whenComplete((connection, error) -> {
                if (closed) {
                    disconnect();
                    group.forEach(task -> task.reply.completeExceptionally(errors.closed(null)));
                    next();
                } else if (error != null) {
                    disconnect();
                    // Nothing was sent.
                    group.forEach(task -> task.reply.completeExceptionally(errors.notExecuted(errors.of(error))));
                    next();
                } else {
                    send(connection, group);
                }
            });
        }

        private boolean isClosed(CompletionStage<StatefulRedisConnection<String, String>> link) {
            CompletableFuture<StatefulRedisConnection<String, String>> made = link.toCompletableFuture();
            return made.isDone()
                    && !made.isCompletedExceptionally()
                    && !made.join().isOpen();
        }

        private void send(StatefulRedisConnection<String, String> connection, List<Task> group) {
            List<CompletableFuture<List<Object>>> replies = new ArrayList<>();
            for (Task task : group) {
                replies.add(StageGuard.begin(() -> scripts.run(connection.async(), task.script, task.keys, task.args))
                        .toCompletableFuture());
            }
            var unused = CompletableFuture.allOf(replies.toArray(new CompletableFuture<?>[0]))
                    .whenComplete((all, ignored) -> {
                        List<Task> granted = new ArrayList<>();
                        List<List<Object>> grants = new ArrayList<>();
                        boolean unusable = false;
                        for (int i = 0; i < group.size(); i++) {
                            Task task = group.get(i);
                            CompletableFuture<List<Object>> reply = replies.get(i);
                            if (!task.again && isUnsent(reply)) {
                                // The connection ended unused: an idle one is closed.
                                task.again = true;
                                unusable = true;
                                lock.lock();
                                try {
                                    waiting.add(task);
                                } finally {
                                    lock.unlock();
                                }
                            } else if (reply.isCompletedExceptionally()) {
                                Throwable error =
                                        reply.handle((none, problem) -> problem).join();
                                unusable |= RedisErrors.endsConnection(error);
                                task.reply.completeExceptionally(error);
                            } else if (task.granted.test(reply.join())) {
                                granted.add(task);
                                grants.add(reply.join());
                            } else {
                                task.reply.complete(reply.join());
                            }
                        }
                        CompletionStage<Void> over = granted.isEmpty()
                                ? CompletableFuture.completedFuture(null)
                                : confirm(connection, granted, grants, unusable);
                        if (unusable) {
                            // It may lead to the wrong server, or be cut. What comes next makes another; what was
                            // granted
                            // on this one is still confirmed there.
                            detach(connection);
                            over.whenComplete((done, none) -> {
                                var unusedAnswer = connection.closeAsync();
                            });
                            next();
                        } else {
                            over.whenComplete((done, none) -> next());
                        }
                    });
        }

        /** Whether the connection was closed already when the command should have been written. */
        private boolean isUnsent(CompletableFuture<List<Object>> reply) {
            Throwable error = reply.isCompletedExceptionally()
                    ? reply.handle((none, problem) -> problem).join()
                    : null;
            return error != null
                    && (RedisErrors.wasNotSent(error) || RedisErrors.unwrap(error) instanceof ClosedChannelException);
        }

        /**
         * @param last whether others go over another connection already: then nothing may be given back on this one, where it could
         *     be executed after the next acquire of the same id
         * @return completes when each is confirmed, or given back
         */
        private CompletionStage<Void> confirm(
                StatefulRedisConnection<String, String> connection,
                List<Task> granted,
                List<List<Object>> grants,
                boolean last) {
            CompletionStage<Long> waited =
                    StageGuard.begin(() -> connection.async().waitForReplication(needed, patience.toMillis()));
            waited.whenComplete((replicas, error) -> {
                int has = replicas == null ? 0 : replicas.intValue();
                if (error != null) {
                    detach(connection);
                    var unused = connection.closeAsync();
                }
                for (int i = 0; i < granted.size(); i++) {
                    if (has >= needed) {
                        granted.get(i).reply.complete(grants.get(i));
                    } else if (last || error != null) {
                        granted.get(i).reply.completeExceptionally(errors.notReplicated(has, needed, patience, false));
                    } else {
                        giveBack(connection, granted.get(i), has);
                    }
                }
            });
            return CompletableFuture.allOf(
                    granted.stream().map(task -> task.reply).toArray(CompletableFuture<?>[]::new));
        }

        private void giveBack(StatefulRedisConnection<String, String> connection, Task task, int has) {
            // On the connection of the acquisitions, so in their order: the engine asks again under the same id, and a
            // withdrawal that was executed after that would end a hold whose lease was handed out.
            String[] args = {task.args[0], task.args[1], task.args[2]};
            StageGuard.begin(() -> scripts.run(connection.async(), LuaScript.ABANDON, task.keys, args))
                    .whenComplete((held, error) -> task.reply.completeExceptionally(
                            errors.notReplicated(has, needed, patience, error == null)));
        }

        void disconnect() {
            CompletionStage<StatefulRedisConnection<String, String>> link;
            lock.lock();
            try {
                link = connecting;
                connecting = null;
            } finally {
                lock.unlock();
            }
            if (link != null) {
                link.thenAccept(connection -> {
                    var unused = connection.closeAsync();
                });
            }
        }

        /** Nothing new is sent on this connection. */
        @SuppressWarnings("ReferenceEquality") // the same connection, not an equal one
        private void detach(StatefulRedisConnection<String, String> connection) {
            lock.lock();
            try {
                if (connecting != null && connecting.toCompletableFuture().getNow(null) == connection) {
                    connecting = null;
                }
            } finally {
                lock.unlock();
            }
        }
    }
}
