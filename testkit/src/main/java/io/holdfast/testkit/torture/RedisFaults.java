package io.holdfast.testkit.torture;

import io.holdfast.testkit.servers.RedisServer;
import java.util.List;
import java.util.Random;

/** Faults that all kinds of Redis servers share. */
final class RedisFaults {

    private static final int LONGEST_MILLIS = 4_000;

    private RedisFaults() {}

    static void pause(RedisServer server, Random random) throws InterruptedException {
        pauseFor(server, random.nextInt(LONGEST_MILLIS));
    }

    static void pauseFor(RedisServer server, int millis) throws InterruptedException {
        server.pause();
        Thread.sleep(millis);
        server.resume();
    }

    /** Ends the connections of clients, for commands and for messages, but not those of replicas. */
    static void cutClients(RedisServer server) {
        server.command("CLIENT", "KILL", "TYPE", "normal");
        server.command("CLIENT", "KILL", "TYPE", "pubsub");
    }

    static <T> T any(List<T> servers, Random random) {
        return servers.get(random.nextInt(servers.size()));
    }
}
