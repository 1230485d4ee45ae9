package io.holdfast.redis.connect;

import io.holdfast.redis.server.RedisErrors;
import io.holdfast.redis.server.ServerId;
import io.holdfast.spi.TimeSource;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.api.StatefulRedisConnection;
import java.time.Duration;
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
 * A few connections to each server, each lent to one user at a time. Who comes when all are lent waits for one,
 * at most for the timeout: else those who wait for a server that hangs would wait for all the timeouts before theirs.
 *
 * <p>A connection that failed at anything is closed: what it watches, or whether a transaction is open on it, is not
 * known then. So is one that was idle from one beat to the next, except the last.
 */
public final class DedicatedConnections {

    private static final int CONNECTIONS_MAX = 8;

    /** The connections to one server. All fields by lock. */
    private static final class Pool {
        final ArrayDeque<Idle> idle = new ArrayDeque<>(); // the last used first, the beaten last
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

    private static final class Waiter {
        final String key;
        final CompletableFuture<StatefulRedisConnection<String, String>> turn = new CompletableFuture<>();

        Waiter(String key) {
            this.key = key;
        }
    }

    private final Function<String, CompletionStage<StatefulRedisConnection<String, String>>> connector;
    private final Function<String, ServerId> servers;
    private final TimeSource time;
    private final Duration timeout;
    private final RedisErrors errors;
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<ServerId, Pool> pools = new HashMap<>(); // by lock
    private boolean closed; // by lock

    /**
     * @param connector connects to the server of a key; the connection must not connect again by itself
     * @param servers says which server has the key now; equal for the same server
     * @param timeout how long to wait for one that is lent to others
     */
    public DedicatedConnections(
            Function<String, CompletionStage<StatefulRedisConnection<String, String>>> connector,
            Function<String, ServerId> servers,
            TimeSource time,
            Duration timeout,
            RedisErrors errors) {
        this.connector = connector;
        this.servers = servers;
        this.time = time;
        this.timeout = timeout;
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

    /** Keeps idle connections alive, and closes those not used since the last beat: with a single server, all but one. */
    public void beat() {
        List<StatefulRedisConnection<String, String>> superfluous = new ArrayList<>();
        Map<Idle, ServerId> pinged = new LinkedHashMap<>(); // an order of its own: a simulation repeats it
        lock.lock();
        try {
            // Not in a cluster: a pool whose node serves no slot any more would never end.
            int kept = pools.size() == 1 ? 1 : 0;
            pools.forEach((server, pool) -> {
                while (pool.idle.size() > kept && pool.idle.getLast().beaten) {
                    superfluous.add(pool.idle.removeLast().connection);
                    pool.open--;
                }
                // Nobody may have them meanwhile: PING would get into that one's transaction.
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
            // A refusal is a sign of life, too.
            var unused = idle.connection
                    .async()
                    .ping()
                    .whenComplete((pong, error) -> giveBack(
                            server,
                            idle,
                            error == null || RedisErrors.unwrap(error) instanceof RedisCommandExecutionException));
        });
    }

    /** Closes what is idle; what is lent is closed when it comes back. */
    public void close() {
        List<Idle> idle = new ArrayList<>();
        List<CompletableFuture<?>> waiting = new ArrayList<>();
        lock.lock();
        try {
            closed = true;
            for (Pool pool : pools.values()) {
                idle.addAll(pool.idle);
                pool.waiting.forEach(waiter -> waiting.add(waiter.turn));
            }
            pools.clear();
        } finally {
            lock.unlock();
        }
        waiting.forEach(turn -> turn.completeExceptionally(new IllegalStateException("Connection is closed")));
        idle.forEach(each -> close(each.connection));
    }

    /** For tests: how many are open. */
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
                waiter = new Waiter(key);
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
        TimeSource.Timer timer = time.schedule(timeout.toNanos(), () -> {
            lock.lock();
            try {
                pool.waiting.remove(waiter);
            } finally {
                lock.unlock();
            }
            waiter.turn.completeExceptionally(errors.noConnection());
        });
        var unused = waiter.turn.whenComplete((connection, error) -> timer.cancel());
        return waiter.turn;
    }

    private CompletionStage<StatefulRedisConnection<String, String>> connect(ServerId server, String key) {
        // Not the driver's own kind of future, whose exceptionallyCompose never completes.
        CompletableFuture<StatefulRedisConnection<String, String>> connecting = new CompletableFuture<>();
        connector.apply(key).whenComplete((connection, error) -> {
            if (error != null) {
                gone(server);
                connecting.completeExceptionally(error);
            } else {
                connecting.complete(connection);
            }
        });
        return connecting;
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
            if (next.turn.complete(connection)) {
                return;
            }
            // That one has just given up waiting.
        }
        close(connection);
    }

    /**
     * There is one less, so somebody who waits may have a new one: to where the own key is now, which need not be where
     * others' keys are. One that leads elsewhere than its pool says is refused (MOVED) to the next user, and closed.
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
            // Not from here: where connecting fails at once, each of thousands who wait would be one step deeper.
            time.schedule(0, () -> connectFor(server, next));
        }
    }

    private void connectFor(ServerId server, Waiter next) {
        connect(server, next.key).whenComplete((connection, error) -> {
            if (error != null) {
                next.turn.completeExceptionally(error);
            } else if (!next.turn.complete(connection)) {
                giveBack(server, new Idle(connection), true);
            }
        });
    }

    private static void close(StatefulRedisConnection<String, String> connection) {
        var unused = connection.closeAsync();
    }
}
