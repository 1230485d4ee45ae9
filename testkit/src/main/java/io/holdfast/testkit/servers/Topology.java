package io.holdfast.testkit.servers;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** Helpers for starting and watching several servers that belong together. */
final class Topology {

    private Topology() {}

    /** Starts all servers at the same time, all or none. */
    static List<RedisServer> startAll(int count, Supplier<RedisServer> start) {
        List<CompletableFuture<RedisServer>> starting = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            CompletableFuture<RedisServer> started = new CompletableFuture<>();
            starting.add(started);
            Thread thread = new Thread(() -> startOne(start, started), "server-start " + i);
            thread.setDaemon(true);
            thread.start();
        }
        List<RedisServer> servers = new ArrayList<>();
        RuntimeException failed = null;
        for (CompletableFuture<RedisServer> one : starting) {
            try {
                servers.add(one.join());
            } catch (CompletionException e) {
                failed = new IllegalStateException("a server of " + count + " did not start", e.getCause());
            }
        }
        if (failed != null) {
            closeAll(servers);
            throw failed;
        }
        return List.copyOf(servers);
    }

    /** Returns the addresses for clients: {@code host:port,host:port,…}. */
    static String addresses(List<RedisServer> servers) {
        return String.join(
                ",",
                servers.stream()
                        .map(server -> server.host() + ":" + server.announcedPort())
                        .toList());
    }

    static void closeAll(List<RedisServer> servers) {
        servers.forEach(RedisServer::close);
    }

    /**
     * Waits until a condition is true. A server that does not answer, or answers with an error, counts as "not yet".
     *
     * @param what the condition in words, for the error
     * @throws IllegalStateException if the condition is not true in time
     */
    static void await(String what, Duration atMost, BooleanSupplier condition) {
        long deadline = System.nanoTime() + atMost.toNanos();
        RuntimeException last = null;
        while (true) {
            try {
                if (condition.getAsBoolean()) {
                    return;
                }
                last = null;
            } catch (RuntimeException e) {
                last = e;
            }
            if (System.nanoTime() - deadline > 0) {
                throw new IllegalStateException("not within " + atMost.toSeconds() + " s: " + what, last);
            }
            // Servers give no sign when they are ready or have changed their roles, so this asks again.
            LockSupport.parkNanos(20_000_000);
            if (Thread.currentThread().isInterrupted()) {
                throw new IllegalStateException("interrupted while waiting until " + what);
            }
        }
    }

    /** Returns the value of a field in the answer to INFO; empty if the field is missing. */
    static String info(RedisServer server, String section, String field) {
        for (String line : String.valueOf(server.command("INFO", section)).split("\r\n", -1)) {
            if (line.startsWith(field + ":")) {
                return line.substring(field.length() + 1);
            }
        }
        return "";
    }

    /**
     * Refuses replicas that ask for data, and ends the connections of those that receive it now; or allows them again,
     * but only by PSYNC: a replica to which PSYNC was refused a moment ago would fall back to SYNC, and then confirm
     * nothing to WAIT.
     */
    static void refuseReplicas(RedisServer master, boolean refuse) {
        master.command("ACL", "SETUSER", "default", refuse ? "-psync" : "+psync", "-sync");
        if (refuse) {
            master.command("CLIENT", "KILL", "TYPE", "replica");
        }
    }

    private static void startOne(Supplier<RedisServer> start, CompletableFuture<RedisServer> started) {
        try {
            started.complete(start.get());
        } catch (Throwable e) {
            started.completeExceptionally(e);
        }
    }
}
