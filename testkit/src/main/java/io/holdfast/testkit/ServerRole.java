package io.holdfast.testkit;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** What a server's program is started as. */
enum ServerRole {
    SERVER,
    CLUSTER_NODE,
    SENTINEL;

    /** The arguments that come first. A sentinel keeps what it knows in a file, which must be there from the start. */
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

    /** A port that this role can use: a cluster node needs a second one, 10,000 above. */
    int freePort() throws IOException {
        return this == CLUSTER_NODE ? FreePort.nextWithBus() : FreePort.next();
    }
}
