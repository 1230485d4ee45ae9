package io.holdfast.modules;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.quorum.QuorumStores;
import io.holdfast.redis.RedisStores;
import io.holdfast.testkit.servers.RedisServer;
import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** An application on the module path finds the Redis store, and sees its public package alone. */
public class ModulePathTest {

    private static final String DRIVER =
            "(lettuce-core|netty-|reactor-core|reactive-streams|redis-authx|jspecify).*\\.jar";

    @Test
    void aNamedModuleServesLocksAndExportsItsRootAlone() throws Exception {
        try (RedisServer server = RedisServer.start()) {
            Process process = new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin", "java")
                                    .toString(),
                            "-XX:TieredStopAtLevel=1",
                            "-XX:+UseSerialGC",
                            "--module-path",
                            modulePath(),
                            "--add-modules",
                            "io.holdfast.redis",
                            "-cp",
                            locationOf(ModulePathTest.class),
                            Application.class.getName(),
                            server.uri())
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(said.lines().toList())
                    .containsExactly("module io.holdfast.redis", "[io.holdfast.redis]", "locked");
            assertThat(process.waitFor()).isZero();
        }
    }

    private static String modulePath() {
        List<String> own =
                List.of(locationOf(LockClient.class), locationOf(QuorumStores.class), locationOf(RedisStores.class));
        Stream<String> drivers = Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(entry -> Path.of(entry).getFileName().toString().matches(DRIVER));
        return Stream.concat(own.stream(), drivers).collect(Collectors.joining(File.pathSeparator));
    }

    private static String locationOf(Class<?> type) {
        return type.getProtectionDomain().getCodeSource().getLocation().getPath();
    }

    /** Runs in the child: the server's URI. */
    static final class Application {

        public static void main(String[] args) throws InterruptedException {
            Module module = RedisStores.class.getModule();
            Set<String> exported = module.getPackages().stream()
                    .filter(module::isExported)
                    .collect(Collectors.toCollection(TreeSet::new));
            System.out.println(module);
            System.out.println(exported);
            try (LockClient locks = LockClient.connect(args[0]);
                    Lease lease = locks.acquire("module-path")) {
                System.out.println(lease.isValid() ? "locked" : "lost");
            }
        }
    }
}
