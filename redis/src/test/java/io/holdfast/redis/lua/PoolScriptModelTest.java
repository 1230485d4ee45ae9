package io.holdfast.redis.lua;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.testkit.servers.Installation;
import io.holdfast.testkit.servers.RedisServer;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The scripts of pools, on real servers, do what {@link PoolReference} does, command by command: replies, messages, and
 * all that is stored. The commands are random, with holds that expire, waiters that die or do not listen, repetitions,
 * two limits at once and weights. Every seeded bug shows within a thousand runs.
 */
class PoolScriptModelTest {

    private static final int RUNS = Integer.getInteger("runs", Boolean.getBoolean("holdfast.quick") ? 10 : 100);
    private static final int RUNS_FOR_BUGS = 1_000;

    @ParameterizedTest
    @MethodSource("io.holdfast.testkit.servers.RedisServer#available")
    void the_scripts_do_what_the_reference_does(Installation installation) throws IOException {
        try (RedisServer server =
                RedisServer.builder().installation(installation).start()) {
            for (boolean pushes : new boolean[] {true, false}) {
                try (PoolScriptServer scripts = new PoolScriptServer(server, PoolScriptBug.NONE, pushes)) {
                    for (long seed = Long.getLong("seed", 1); seed <= RUNS; seed++) {
                        assertThat(new PoolScriptRun(seed, scripts, pushes).difference())
                                .as("seed %d, scripts %s", seed, pushes ? "publish" : "may not publish")
                                .isEmpty();
                    }
                }
            }
        }
    }

    @Test
    @Tag("deep") // quick: the test above
    void every_seeded_bug_shows() throws IOException {
        try (RedisServer server = RedisServer.start()) {
            List<PoolScriptBug> missed = new ArrayList<>();
            for (PoolScriptBug bug : PoolScriptBug.values()) {
                if (bug != PoolScriptBug.NONE) {
                    Optional<String> found = find(server, bug);
                    System.out.println(bug + ": " + found.orElse("not found"));
                    if (found.isEmpty()) {
                        missed.add(bug);
                    }
                }
            }
            assertThat(missed).isEmpty();
        }
    }

    private static Optional<String> find(RedisServer server, PoolScriptBug bug) throws IOException {
        try (PoolScriptServer scripts = new PoolScriptServer(server, bug, true)) {
            for (long seed = 1; seed <= RUNS_FOR_BUGS; seed++) {
                Optional<String> found = new PoolScriptRun(seed, scripts, true).difference();
                if (found.isPresent()) {
                    return found;
                }
            }
            return Optional.empty();
        }
    }
}
