package io.holdfast.testkit.servers;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** The role in which a server's program starts. */
enum ServerRole {
    SERVER,
    CLUSTER_NODE,
    SENTINEL;

    /** Returns the first arguments. A sentinel keeps its state in a file, which must exist at the start. */
    List<String> firstArguments(Path dir) throws IOException {
        return switch (this) {
            case SERVER -> List.of("--save", "", "--appendonly", "no");
            case CLUSTER_NODE ->
                List.of(
                        "--save",
                        "",
                        "--appendonly",
                        "no",
                        "--cluster-enabled",
                        "yes",
                        "--cluster-config-file",
                        "nodes.conf",
                        "--cluster-announce-ip",
                        "127.0.0.1");
            case SENTINEL -> {
                Path file = dir.resolve("sentinel.conf");
                if (!Files.exists(file)) {
                    Files.createFile(file);
                }
                yield List.of(file.toString(), "--sentinel");
            }
        };
    }

    /** Returns a port that this role can use: a cluster node needs a second port, 10,000 above. */
    int freePort() throws IOException {
        return this == CLUSTER_NODE ? FreePort.nextWithBus() : FreePort.next();
    }
}
