package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LockClient;
import io.holdfast.StoreOnce;
import io.holdfast.testkit.servers.ChildJvm;
import io.holdfast.testkit.servers.RedisServer;
import io.lettuce.core.RedisClient;
import io.lettuce.core.api.sync.RedisCommands;
import java.io.BufferedReader;
import java.io.IOException;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Processes are killed (SIGKILL) while they do work that is recorded in the store, and a client of this process repeats
 * their keys. What was recorded is not done again; what was not is done again, and never while the first process does it.
 *
 * <p>{@code -Dkills=} sets how many are killed at a random moment, 4 by default; {@code -Dseed=} the moments.
 */
@Tag("deep") // quick: StoreOnceRedisTest
@Timeout(600)
class StoreOnceKilledTest {

    private static final int KILLS = Integer.getInteger("kills", 4);

    private final RedisServer server = RedisServer.start();
    private final LockClient client = KilledOnce.client(server.uri());
    private final StoreOnce once = client.once();
    private final RedisClient driver = RedisClient.create(server.uri());
    private RedisCommands<String, String> redis;

    @BeforeEach
    void connect() {
        redis = driver.connect().sync();
    }

    @AfterEach
    void close() {
        driver.shutdown();
        client.close();
        server.close();
    }

    @Test
    void work_that_was_done_and_not_recorded_is_done_again() throws Exception {
        try (Killed killed = new Killed(server.uri(), KilledOnce.BEFORE_RECORD)) {
            assertThat(killed.line()).isEqualTo("stops at 0");
            CompletableFuture<String> waiting = CompletableFuture.supplyAsync(() -> repeat(0, killed));
            // For longer than a lease: it is renewed for as long as the process lives.
            assertThatThrownBy(() -> waiting.get(KilledOnce.LEASE.plusSeconds(1).toMillis(), TimeUnit.MILLISECONDS))
                    .isInstanceOf(TimeoutException.class);
            killed.kill();

            String receipt = waiting.get(60, TimeUnit.SECONDS);
            assertThat(effects(0))
                    .containsExactly("begin " + killed.pid(), "end " + killed.pid(), "begin here", "end here");
            assertThat(receipt).isEqualTo("receipt of here");
            assertThat(repeat(0, killed)).isEqualTo(receipt);
            assertThat(effects(0)).hasSize(4);
        }
    }

    @Test
    void work_that_was_recorded_is_not_done_again() throws Exception {
        try (Killed killed = new Killed(server.uri(), KilledOnce.AFTER_RECORD)) {
            assertThat(killed.line()).isEqualTo("stops at 0");
            killed.kill();
            assertThat(repeat(0, killed)).isEqualTo("receipt of " + killed.pid());
            assertThat(effects(0)).containsExactly("begin " + killed.pid(), "end " + killed.pid());
        }
    }

    @Test
    void at_a_random_moment() throws Exception {
        long seed = Long.getLong("seed", System.nanoTime());
        Random random = new Random(seed);
        int recorded = 0;
        int doneAgain = 0;
        int next = 0;
        for (int i = 0; i < KILLS; i++) {
            try (Killed killed = new Killed(server.uri(), Integer.toString(next))) {
                int last = next;
                assertThat(killed.line()).isEqualTo("done " + last);
                TimeUnit.MICROSECONDS.sleep(random.nextInt(50_000));
                killed.kill();
                last = killed.lastDone(last);
                for (int key = next; key <= last; key++) {
                    String story = "key " + key + " of " + last + ", seed " + seed;
                    assertThat(repeat(key, killed)).as(story).isEqualTo("receipt of " + killed.pid());
                    assertThat(effects(key)).as(story).hasSize(2);
                    recorded++;
                }
                // It has begun this key or not; and its end, or its record, may be missing.
                int under = last + 1;
                List<String> before = effects(under);
                String receipt = repeat(under, killed);
                List<String> after = effects(under);
                String story = "the effects " + after + " of key " + under + ", seed " + seed;
                if (receipt.equals("receipt of here")) {
                    assertThat(after.subList(before.size(), after.size()))
                            .as(story)
                            .containsExactly("begin here", "end here");
                    doneAgain += before.isEmpty() ? 0 : 1;
                } else {
                    assertThat(receipt).as(story).isEqualTo("receipt of " + killed.pid());
                    assertThat(after).as(story).isEqualTo(before).hasSize(2);
                    recorded++;
                }
                next = under + 1;
            }
        }
        System.out.println(
                "seed " + seed + ": " + KILLS + " processes were killed in work that is recorded in the store; "
                        + recorded + " results were recorded and are kept, " + doneAgain + " keys were done again");
    }

    /** Asks for the key here. If that does the work, the other process must be dead, or must not have begun. */
    private String repeat(int key, Killed killed) {
        try {
            return String.valueOf(once.run("payment:" + key, "", lease -> {
                if (killed.process.isAlive()) {
                    assertThat(effects(key))
                            .as("effects of a process that lives")
                            .isEmpty();
                }
                return KilledOnce.work(redis, key, "here");
            }));
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private List<String> effects(int key) {
        return redis.lrange("effects:" + key, 0, -1);
    }

    /** A process of {@link KilledOnce}. */
    private static final class Killed implements AutoCloseable {

        private final Process process;
        private final BufferedReader output;

        Killed(String uri, String stop) throws IOException {
            process = ChildJvm.command("-Xmx96m", KilledOnce.class.getName(), uri, stop)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            output = process.inputReader();
        }

        long pid() {
            return process.pid();
        }

        String line() throws IOException {
            String line = output.readLine();
            assertThat(line).as("a line of the process").endsWith(".");
            return line.substring(0, line.length() - 1);
        }

        void kill() throws InterruptedException {
            // By its handle: Process.destroyForcibly closes the output, too.
            assertThat(process.toHandle().destroyForcibly()).isTrue();
            assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        }

        /** Returns the last key that it said to be done; its last line may be cut off. */
        int lastDone(int first) throws IOException {
            int last = first;
            for (String line = output.readLine(); line != null; line = output.readLine()) {
                if (line.matches("done \\d+\\.")) {
                    last = Integer.parseInt(line.substring("done ".length(), line.length() - 1));
                }
            }
            return last;
        }

        @Override
        public void close() {
            process.toHandle().destroyForcibly();
        }
    }
}
