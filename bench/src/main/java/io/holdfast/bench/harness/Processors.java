package io.holdfast.bench.harness;

import io.holdfast.testkit.servers.RedisServer;
import java.io.IOException;

/** How servers and clients share the processors of the machine. */
public enum Processors {
    /** All run on all. */
    SHARED,

    /**
     * The servers have the first processor, and the clients have the others. So neither side empties the other's caches
     * or takes its time, as with a server on a machine of its own. Needs Linux's {@code taskset}.
     */
    APART;

    /** The number of the machine's processors: read before this process keeps to some of them. */
    static final int COUNT = Runtime.getRuntime().availableProcessors();

    static Processors of(String apart) {
        return switch (apart) {
            case "yes" -> APART;
            case "no" -> SHARED;
            default -> throw new IllegalArgumentException("--apart " + apart + " (expected: yes or no)");
        };
    }

    /** Places this process and, from now on, the children that it starts. */
    void placeClients() throws IOException, InterruptedException {
        if (this == APART) {
            if (COUNT < 2) {
                throw new IllegalArgumentException("--apart yes: the machine has one processor (expected: at least 2)");
            }
            place(ProcessHandle.current().pid(), "1-" + (COUNT - 1));
        }
    }

    void place(RedisServer server) throws IOException, InterruptedException {
        if (this == APART) {
            place(server.pid(), "0");
        }
    }

    private static void place(long pid, String processors) throws IOException, InterruptedException {
        Process taskset = new ProcessBuilder(
                        "taskset", "--all-tasks", "--cpu-list", "--pid", processors, Long.toString(pid))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        if (taskset.waitFor() != 0) {
            throw new IOException("taskset could not move process " + pid + " to the processors " + processors);
        }
    }
}
