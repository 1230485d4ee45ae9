package io.holdfast.testkit.torture;

import io.holdfast.testkit.RedisServer;
import java.util.Random;

/** Servers that stand still for a while. */
final class Pauses {

    private static final int LONGEST_MILLIS = 4_000;

    private Pauses() {}

    static void pause(RedisServer server, Random random) throws InterruptedException {
        server.pause();
        Thread.sleep(random.nextInt(LONGEST_MILLIS));
        server.resume();
    }

    /** Short enough that nobody takes it for dead. */
    static void pauseFor(RedisServer server, int millis) throws InterruptedException {
        server.pause();
        Thread.sleep(millis);
        server.resume();
    }

    static <T> T any(java.util.List<T> servers, Random random) {
        return servers.get(random.nextInt(servers.size()));
    }
}
