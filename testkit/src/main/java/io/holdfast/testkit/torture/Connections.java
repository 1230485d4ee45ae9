package io.holdfast.testkit.torture;

import io.holdfast.testkit.RedisServer;

/** Connections that a server ends. */
final class Connections {

    private Connections() {}

    /** Those of clients, for commands and for messages; not those of replicas. */
    static void cut(RedisServer server) {
        server.command("CLIENT", "KILL", "TYPE", "normal");
        server.command("CLIENT", "KILL", "TYPE", "pubsub");
    }
}
