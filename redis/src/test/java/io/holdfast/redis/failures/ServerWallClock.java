package io.holdfast.redis.failures;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.holdfast.testkit.servers.Installation;
import io.holdfast.testkit.servers.RedisServer;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** A wall clock of a server's own, by a library that is compiled here (skew.c) and preloaded into it. */
final class ServerWallClock {

    private final Path library;
    private final Path skew;

    private ServerWallClock(Path library, Path skew) {
        this.library = library;
        this.skew = skew;
    }

    /** Skips the test where there is no C compiler. */
    static ServerWallClock compile(Path dir) throws IOException, InterruptedException {
        Path source = dir.resolve("skew.c");
        try (InputStream in = Objects.requireNonNull(ServerWallClock.class.getResourceAsStream("skew.c"))) {
            Files.copy(in, source);
        }
        Path library = dir.resolve("skew.so");
        assumeTrue(
                runs("gcc", "-shared", "-fPIC", "-O1", "-o", library.toString(), source.toString()), "gcc is needed");
        Path skew = Files.write(dir.resolve("skew"), new byte[Long.BYTES]);
        return new ServerWallClock(library, skew);
    }

    /** Starts a server with this clock; skips the test if it does not show there. */
    RedisServer start(Installation installation) throws IOException {
        RedisServer server = RedisServer.builder()
                .installation(installation)
                .environment(Map.of("LD_PRELOAD", library.toString(), "HOLDFAST_SKEW", skew.toString()))
                .start();
        long before = seconds(server);
        jump(Duration.ofHours(1));
        boolean taken = false;
        // Some answer TIME by the clock as they read it last.
        for (int look = 0; look < 100 && !taken; look++) {
            taken = seconds(server) - before >= 3_000;
        }
        jump(Duration.ZERO);
        if (!taken) {
            server.close();
        }
        assumeTrue(taken, installation + " does not take a preloaded clock");
        return server;
    }

    /** From now on the server's clock is off by this much. */
    void jump(Duration by) throws IOException {
        ByteBuffer micros = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.nativeOrder());
        micros.putLong(0, by.toNanos() / 1_000);
        Files.write(skew, micros.array(), StandardOpenOption.WRITE);
    }

    private static long seconds(RedisServer server) {
        List<?> time = (List<?>) Objects.requireNonNull(server.command("TIME"));
        assertThat(time).hasSize(2);
        return Long.parseLong(String.valueOf(time.get(0)));
    }

    private static boolean runs(String... command) throws InterruptedException {
        try {
            Process process =
                    new ProcessBuilder(command).redirectErrorStream(true).start();
            String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(process.waitFor()).as(said).isZero();
            return true;
        } catch (IOException e) {
            return false; // no such program
        }
    }
}
