package io.holdfast.redis.lua;

import io.holdfast.redis.connect.RedisConnections;
import io.holdfast.redis.connect.StageGuard;
import io.holdfast.redis.server.RedisErrors;
import io.holdfast.redis.server.RedisSettings;
import io.holdfast.redis.server.ServerId;
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
import org.jspecify.annotations.Nullable;

/**
 * Sends acquires whose holds replicas must have before the leases are handed out.
 *
 * <p>WAIT counts only the writes before it on its own connection, and delays the commands after it there. So each
 * master has one more connection, for acquires alone. Acquires go in groups: those that arrive while a group is under
 * way are sent together, and one WAIT follows for all that were granted. An acquire that confirms a grant pushed by
 * another client's release writes in any case (see acquire.lua): replicas receive writes in order, so a replica that
 * has this write has the grant.
 *
 * <p>If too few replicas confirm within half of the command timeout, the holds of the group are given back. After an
 * error of WAIT, or when other groups already use another connection, they are kept, and the acquires fail as unknown.
 */
public final class ReplicatedAcquires {

    private static final int GROUP_MAX = 200;

    private final RedisConnections connections;
    private final RedisErrors errors;
    private final int needed;
    private final Duration patience;
    private final ConcurrentHashMap<ServerId, Lane> lanes = new ConcurrentHashMap<>();
    private volatile boolean closed;

    ReplicatedAcquires(RedisSettings settings, RedisConnections connections, RedisErrors errors) {
        this.connections = connections;
        this.errors = errors;
        this.needed = settings.minReplicas();
        this.patience = settings.timeout().dividedBy(2);
    }

    /** Runs the script that acquires a name of the caller's kind. */
    <T> void run(
            LuaParts parts, String[] keys, String[] args, Scripts.Decoder<T> decoder, CompletableFuture<T> outcome) {
        Task task = new Task(parts, keys, args);
        CompletionStage<ScriptReply> answered = task.reply;
        answered.whenComplete((reply, error) -> {
            if (error != null) {
                connections.failed(keys[0], error);
                outcome.completeExceptionally(errors.of(error));
                return;
            }
            try {
                decoder.decode(reply, outcome);
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

    /** One acquire. */
    private static final class Task {

        final LuaParts parts;
        final String[] keys;
        final String[] args;
        final CompletableFuture<ScriptReply> reply = new CompletableFuture<>();

        /** Whether the task was put back once. Only the group that the task is in touches it. */
        boolean again;

        Task(LuaParts parts, String[] keys, String[] args) {
            this.parts = parts;
            this.keys = keys;
            this.args = args;
        }

        CompletionStage<ScriptReply> run(
                StatefulRedisConnection<String, String> connection, LuaScript script, String[] with) {
            return parts.scripts().run(connection.async(), script, keys, with);
        }
    }

    /** A task that was granted, and its reply. */
    private record Grant(Task task, ScriptReply reply) {}

    /** The acquires of one server: one group at a time. */
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

        /** Sends the next group. The caller has set {@link #busy}, or has ended a group. */
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
                if (!closed && error == null) {
                    send(connection, group);
                    return;
                }
                disconnect();
                // Nothing was sent.
                Throwable why = closed ? errors.closed(null) : errors.notExecuted(errors.of(error));
                group.forEach(task -> task.reply.completeExceptionally(why));
                next();
            });
        }

        private boolean isClosed(CompletionStage<StatefulRedisConnection<String, String>> link) {
            CompletableFuture<StatefulRedisConnection<String, String>> made = link.toCompletableFuture();
            return made.isDone()
                    && !made.isCompletedExceptionally()
                    && !made.join().isOpen();
        }

        private void send(StatefulRedisConnection<String, String> connection, List<Task> group) {
            List<CompletableFuture<ScriptReply>> replies = new ArrayList<>();
            for (Task task : group) {
                replies.add(StageGuard.begin(() -> task.run(connection, task.parts.kind().acquire, task.args))
                        .toCompletableFuture());
            }
            var unused = CompletableFuture.allOf(replies.toArray(new CompletableFuture<?>[0]))
                    .whenComplete((all, ignored) -> answered(connection, group, replies));
        }

        private void answered(
                StatefulRedisConnection<String, String> connection,
                List<Task> group,
                List<CompletableFuture<ScriptReply>> replies) {
            List<Grant> granted = new ArrayList<>();
            boolean unusable = false;
            for (int i = 0; i < group.size(); i++) {
                Task task = group.get(i);
                Throwable error = RedisErrors.unwrap(
                        replies.get(i).handle((reply, e) -> e).join());
                if (error == null) {
                    ScriptReply reply = replies.get(i).join();
                    if (reply.beginsWith(1)) {
                        granted.add(new Grant(task, reply));
                    } else {
                        task.reply.complete(reply);
                    }
                } else if (!task.again && (RedisErrors.wasNotSent(error) || error instanceof ClosedChannelException)) {
                    // The connection was closed before the command was written: the server closes idle connections.
                    task.again = true;
                    unusable = true;
                    lock.lock();
                    try {
                        waiting.add(task);
                    } finally {
                        lock.unlock();
                    }
                } else {
                    unusable |= RedisErrors.endsConnection(error);
                    task.reply.completeExceptionally(error);
                }
            }
            CompletionStage<Void> over = granted.isEmpty()
                    ? CompletableFuture.completedFuture(null)
                    : confirm(connection, granted, unusable);
            if (!unusable) {
                over.whenComplete((done, none) -> next());
                return;
            }
            // The connection may lead to the wrong server, or be cut. The next group opens another. The holds that were
            // granted on this one are still confirmed on it.
            detach(connection);
            over.whenComplete((done, none) -> {
                var unusedAnswer = connection.closeAsync();
            });
            next();
        }

        /**
         * Waits for the replicas.
         *
         * @param last whether other groups already use another connection. Nothing may be given back on this one then:
         *     it could be executed after the next acquire of the same id
         * @return completes when each hold is confirmed, or given back
         */
        private CompletionStage<Void> confirm(
                StatefulRedisConnection<String, String> connection, List<Grant> granted, boolean last) {
            CompletionStage<Long> waited =
                    StageGuard.begin(() -> connection.async().waitForReplication(needed, patience.toMillis()));
            waited.whenComplete((replicas, error) -> {
                int has = replicas == null ? 0 : replicas.intValue();
                if (error != null) {
                    detach(connection);
                    var unused = connection.closeAsync();
                }
                for (Grant grant : granted) {
                    if (has >= needed) {
                        grant.task.reply.complete(grant.reply);
                    } else if (last || error != null) {
                        grant.task.reply.completeExceptionally(errors.notReplicated(has, needed, patience, false));
                    } else {
                        giveBack(connection, grant.task, has);
                    }
                }
            });
            return CompletableFuture.allOf(
                    granted.stream().map(grant -> grant.task.reply).toArray(CompletableFuture<?>[]::new));
        }

        private void giveBack(StatefulRedisConnection<String, String> connection, Task task, int has) {
            // On the connection of the acquires, so in their order: the engine asks again under the same id, and a
            // withdrawal executed after that would end a hold whose lease was handed out.
            String[] args = {task.args[0]};
            StageGuard.begin(() -> task.run(connection, task.parts.kind().abandon, args))
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

        /** Sends nothing new on this connection. */
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
