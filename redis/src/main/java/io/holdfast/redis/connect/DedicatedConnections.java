package io.holdfast.redis.connect;

import io.holdfast.redis.server.RedisErrors;
import io.holdfast.redis.server.ServerId;
import io.holdfast.spi.TimeSource;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.api.StatefulRedisConnection;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;

/**
 * Lends connections, a few to each server, each to one user at a time. When all are lent, a user waits for one, at most
 * for the timeout. Without that bound, a user of a server that hangs would wait for the timeouts of all users before.
 *
 * <p>A connection on which a command failed is closed: it may still watch keys, or have an open transaction. A
 * connection that was idle from one beat to the next is closed as well, unless it is the last one and all connections
 * are to one server.
 */
public final class DedicatedConnections {

    private static final int CONNECTIONS_MAX = 8;

    /** The connections to one server. All fields by lock. */
    private static final class Pool {
        final ArrayDeque<Idle> idle = new ArrayDeque<>(); // most recently used first, unused since the last beat last
        final ArrayDeque<Waiter> waiting = new ArrayDeque<>();
        int open;
    }

    private static final class Idle {
        final StatefulRedisConnection<String, String> connection;
        boolean beaten;

        Idle(StatefulRedisConnection<String, String> connection) {
            this.connection = connection;
        }
    }

    /** A user that waits for a connection to the server of a key. */
    private record Waiter(String key, CompletableFuture<StatefulRedisConnection<String, String>> turn) {}

    private final Function<String, CompletionStage<StatefulRedisConnection<String, String>>> connector;
    private final Function<String, ServerId> servers;
    private final TimeSource time;
    private final RedisErrors errors;
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<ServerId, Pool> pools = new HashMap<>(); // by lock
    private boolean closed; // by lock

    /**
     * @param connector connects to the server of a key; the connection must not reconnect by itself
     * @param servers returns the server that has the key now; equal for the same server
     * @param errors its timeout is the longest wait for a connection that is lent to others
     */
    public DedicatedConnections(
            Function<String, CompletionStage<StatefulRedisConnection<String, String>>> connector,
            Function<String, ServerId> servers,
            TimeSource time,
            RedisErrors errors) {
        this.connector = connector;
        this.servers = servers;
        this.time = time;
        this.errors = errors;
    }

    /** Lends a connection to the key's server until the stage that the user returns is complete. */
    public <T> CompletionStage<T> with(
            String key, Function<StatefulRedisConnection<String, String>, CompletionStage<T>> user) {
        ServerId server = servers.apply(key);
        return take(server, key)
                .thenCompose(connection -> StageGuard.begin(() -> user.apply(connection))
                        .whenComplete((result, error) -> giveBack(server, new Idle(connection), error == null)));
    }

    /** Keeps idle connections alive, and closes those unused since the last beat, except one at a single server. */
    public void beat() {
        List<StatefulRedisConnection<String, String>> superfluous = new ArrayList<>();
        Map<Idle, ServerId> pinged = new LinkedHashMap<>(); // an order of its own: a simulation repeats it
        lock.lock();
        try {
            // Keeps none in a cluster, where the pool of a node without slots would never end.
            int kept = pools.size() == 1 ? 1 : 0;
            pools.forEach((server, pool) -> {
                while (pool.idle.size() > kept && pool.idle.getLast().beaten) {
                    superfluous.add(pool.idle.removeLast().connection);
                    pool.open--;
                }
                // Not lent during the PING: otherwise it would get into a user's transaction.
                pool.idle.forEach(idle -> {
                    idle.beaten = true;
                    pinged.put(idle, server);
                });
                pool.idle.clear();
            });
            pools.values().removeIf(pool -> pool.open == 0);
        } finally {
            lock.unlock();
        }
        superfluous.forEach(DedicatedConnections::close);
        pinged.forEach((idle, server) -> {
            // A refusal also shows that the connection is alive.
            var unused = idle.connection
                    .async()
                    .ping()
                    .whenComplete((pong, error) -> giveBack(
                            server,
                            idle,
                            error == null || RedisErrors.unwrap(error) instanceof RedisCommandExecutionException));
        });
    }

    /** Closes idle connections now, and lent ones when they come back. */
    public void close() {
        List<Idle> idle = new ArrayList<>();
        List<CompletableFuture<?>> waiting = new ArrayList<>();
        lock.lock();
        try {
            closed = true;
            for (Pool pool : pools.values()) {
                idle.addAll(pool.idle);
                pool.waiting.forEach(waiter -> waiting.add(waiter.turn()));
            }
            pools.clear();
        } finally {
            lock.unlock();
        }
        waiting.forEach(turn -> turn.completeExceptionally(new IllegalStateException("Connection is closed")));
        idle.forEach(each -> close(each.connection));
    }

    /** Returns the number of open connections, for tests. */
    public int size() {
        lock.lock();
        try {
            return pools.values().stream().mapToInt(pool -> pool.open).sum();
        } finally {
            lock.unlock();
        }
    }

    private CompletionStage<StatefulRedisConnection<String, String>> take(ServerId server, String key) {
        List<StatefulRedisConnection<String, String>> dead = new ArrayList<>();
        Waiter waiter = null;
        Pool pool;
        lock.lock();
        try {
            if (closed) {
                return CompletableFuture.failedFuture(new IllegalStateException("Connection is closed"));
            }
            pool = pools.computeIfAbsent(server, s -> new Pool());
            for (Idle idle = pool.idle.poll(); idle != null; idle = pool.idle.poll()) {
                if (idle.connection.isOpen()) {
                    return CompletableFuture.completedFuture(idle.connection);
                }
                pool.open--;
                dead.add(idle.connection);
            }
            if (pool.open >= CONNECTIONS_MAX) {
                waiter = new Waiter(key, new CompletableFuture<>());
                pool.waiting.add(waiter);
            } else {
                pool.open++;
            }
        } finally {
            lock.unlock();
            dead.forEach(DedicatedConnections::close);
        }
        return waiter == null ? connect(server, key) : turn(pool, waiter);
    }

    private CompletionStage<StatefulRedisConnection<String, String>> turn(Pool pool, Waiter waiter) {
        TimeSource.Timer timer = time.schedule(errors.timeout().toNanos(), () -> {
            lock.lock();
            try {
                pool.waiting.remove(waiter);
            } finally {
                lock.unlock();
            }
            waiter.turn().completeExceptionally(errors.noConnection());
        });
        var unused = waiter.turn().whenComplete((connection, error) -> timer.cancel());
        return waiter.turn();
    }

    private CompletionStage<StatefulRedisConnection<String, String>> connect(ServerId server, String key) {
        return connector.apply(key).whenComplete((connection, error) -> {
            if (error != null) {
                gone(server);
            }
        });
    }

    private void giveBack(ServerId server, Idle idle, boolean usable) {
        StatefulRedisConnection<String, String> connection = idle.connection;
        if (!usable || !connection.isOpen()) {
            close(connection);
            gone(server);
            return;
        }
        while (true) {
            Waiter next;
            lock.lock();
            try {
                if (closed) {
                    break;
                }
                Pool pool = pools.computeIfAbsent(server, s -> new Pool());
                next = pool.waiting.poll();
                if (next == null) {
                    if (idle.beaten) {
                        pool.idle.addLast(idle);
                    } else {
                        pool.idle.push(idle);
                    }
                    return;
                }
            } finally {
                lock.unlock();
            }
            if (next.turn().complete(connection)) {
                return;
            }
            // That user has just given up waiting.
        }
        close(connection);
    }

    /**
     * Replaces a closed connection if a user waits. The new one leads to where that user's key is now, which may be
     * another server than the pool's; the next user's command is then refused there (MOVED), and the connection is
     * closed.
     */
    private void gone(ServerId server) {
        Waiter next;
        lock.lock();
        try {
            Pool pool = pools.get(server);
            if (pool == null) {
                return;
            }
            next = pool.waiting.poll();
            if (next == null) {
                pool.open--;
                if (pool.open == 0) {
                    pools.remove(server);
                }
            }
        } finally {
            lock.unlock();
        }
        if (next != null) {
            // Not on this stack: where connecting fails at once, each of thousands of waiters would be one call deeper.
            time.schedule(0, () -> connectFor(server, next));
        }
    }

    private void connectFor(ServerId server, Waiter next) {
        connect(server, next.key()).whenComplete((connection, error) -> {
            if (error != null) {
                next.turn().completeExceptionally(error);
            } else if (!next.turn().complete(connection)) {
                giveBack(server, new Idle(connection), true);
            }
        });
    }

    private static void close(StatefulRedisConnection<String, String> connection) {
        var unused = connection.closeAsync();
    }
}
