package io.holdfast.redis.connect;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.testkit.servers.ChildJvm;
import io.holdfast.testkit.servers.RedisServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the first lock of a new JVM uses of the driver, whose classes take most of the time. */
class ColdStartTest {

    @TempDir
    private Path folder;

    /** Runs in the child: the URI. */
    public static void main(String[] args) throws Exception {
        try (LockClient client = LockClient.connect(args[0]);
                Lease lease = client.acquire("cold")) {
            lease.ensureValid();
        }
        Runtime.getRuntime().halt(0);
    }

    @Test
    void theDriversBlockingAndReactiveCommandsAreNotMade() throws Exception {
        try (RedisServer server = RedisServer.start()) {
            assertThat(initializedBy(server.uri()).filter(ColdStartTest::isOfUnusedApi))
                    .isEmpty();
        }
    }

    private static boolean isOfUnusedApi(String name) {
        return name.startsWith("io.lettuce.core.")
                && (name.endsWith("ReactiveCommandsImpl") || name.endsWith("FutureSyncInvocationHandler"));
    }

    /** Returns the classes, by the JVM's log: a class that is only loaded costs little. */
    private Stream<String> initializedBy(String uri) throws Exception {
        Path log = folder.resolve("classes");
        Process process = ChildJvm.command(
                        "-Xlog:class+init=info:file=" + log + "::filecount=0", ColdStartTest.class.getName(), uri)
                .inheritIO()
                .start();
        try {
            assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
            assertThat(process.exitValue()).isZero();
        } finally {
            process.destroyForcibly();
        }
        List<String> names = Files.readAllLines(log).stream()
                .filter(line -> line.contains(" Initializing '"))
                .map(line -> line.split("'", 3)[1].replace('/', '.'))
                .toList();
        assertThat(names).contains(LockClient.class.getName());
        return names.stream();
    }
}
