package io.holdfast.samples.recipes;

import static java.util.concurrent.TimeUnit.SECONDS;

import io.holdfast.LockClient;
import io.holdfast.testkit.servers.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.IntFunction;

/** The nodes of an application: one client for each, as if each were a process of its own. */
final class Fleet implements AutoCloseable {

    /** Ends with this JVM. */
    private static final RedisServer REDIS = RedisServer.start();

    private static final Duration LEASE_TIME = Duration.ofSeconds(30);

    /** The work of one node. */
    interface Work<T> {
        T on(LockClient locks, int node) throws Exception;
    }

    private final List<LockClient> nodes = new ArrayList<>();
    private final String prefix;

    private Fleet(int size, Duration leaseTime, String prefix, IntFunction<String> uri) {
        this.prefix = prefix;
        for (int node = 0; node < size; node++) {
            nodes.add(LockClient.builder()
                    .uri(uri.apply(node))
                    .leaseTime(leaseTime)
                    .build());
        }
    }

    /** Returns nodes that share a Redis server. */
    static Fleet of(int size) {
        return of(size, LEASE_TIME);
    }

    static Fleet of(int size, Duration leaseTime) {
        String prefix = UUID.randomUUID() + ":";
        String uri = redisUri() + "?namePrefix=" + prefix;
        return new Fleet(size, leaseTime, prefix, node -> uri);
    }

    /** Returns nodes of which each has a store of its own: they do not exclude each other. */
    static Fleet withoutCommonStore(int size) {
        return new Fleet(size, LEASE_TIME, "", node -> "memory:" + UUID.randomUUID());
    }

    /** Ends whatever hold there is on the name at the Redis server, without a message. */
    void endHold(String name) {
        REDIS.command("DEL", prefix + name);
    }

    static String redisUri() {
        return REDIS.uri();
    }

    LockClient node(int number) {
        return nodes.get(number);
    }

    /** Runs the work on all nodes at once, and returns the results in the order of the nodes. */
    <T> List<T> all(Work<T> work) throws Exception {
        CyclicBarrier start = new CyclicBarrier(nodes.size());
        ExecutorService threads = Executors.newFixedThreadPool(nodes.size());
        try {
            List<Future<T>> running = new ArrayList<>();
            for (int node = 0; node < nodes.size(); node++) {
                int number = node;
                running.add(threads.submit(() -> {
                    start.await(10, SECONDS);
                    return work.on(nodes.get(number), number);
                }));
            }
            List<T> results = new ArrayList<>();
            for (Future<T> one : running) {
                results.add(one.get(20, SECONDS));
            }
            return results;
        } finally {
            threads.shutdownNow();
        }
    }

    /** Takes the time that a database or a service takes, in which other nodes act. */
    static void pause() {
        pause(Duration.ofMillis(10));
    }

    static void pause(Duration time) {
        try {
            Thread.sleep(time.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        nodes.forEach(LockClient::close);
    }
}
