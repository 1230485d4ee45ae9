package io.holdfast.demo;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.cli.console.ExitCode;
import io.holdfast.cli.process.ProcessTree;
import io.holdfast.testkit.servers.RedisServer;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The whole demonstration, as a user starts it. */
class DemoTest {

    @Tag("deep")
    @Test
    void everyInvariantHoldsAndNothingStays() {
        try (RedisServer redis = RedisServer.start();
                HoldfastProcess demo = HoldfastProcess.run("demo", "--json", "--store", redis.uri())) {
            assertThat(demo.exitCode()).as("%s%s", demo.out(), demo.err()).isZero();
            assertThat(demo.out().lines()).hasSize(1);
            assertThat(demo.out())
                    .startsWith("{\"held\":true,\"broken\":0,\"store\":\"" + redis.uri() + "/0\"")
                    .contains("\"name\":\"refund\"", "\"refunded\":1,\"toldAlreadyRefunded\":29")
                    .contains("\"name\":\"inventory\"", "\"soldWithLock\":1000,\"stockAtEnd\":0")
                    .contains("\"name\":\"long job\"", "\"name\":\"crash\"", "\"acquiredMillisAfterLeaseEnd\":")
                    .contains("\"name\":\"late writer\"", "\"lateWritesAccepted\":0");
            assertThat(demo.err()).contains("refund", "late writer   ok");
            assertKeysExpire(redis);
        }
    }

    /** Parameters can be passwords (of Sentinels), and what a demonstration prints ends in logs. */
    @Test
    void theParametersOfAStoreAreNotShown() {
        try (RedisServer redis = RedisServer.start();
                HoldfastProcess demo = HoldfastProcess.run(
                        "demo", "--only", "refund", "--store", redis.uri() + "?clientName=secret")) {
            assertThat(demo.exitCode()).as("%s%s", demo.out(), demo.err()).isZero();
            assertThat(demo.out()).contains("Playing on " + redis.uri()).doesNotContain("secret");
        }
    }

    /** The same play on ZooKeeper, by a server of its own; the scenes that say something about the store. */
    @Tag("deep")
    @Test
    void everyInvariantHoldsOnZooKeeper() {
        try (HoldfastProcess demo =
                HoldfastProcess.run("demo", "--json", "--zookeeper", "--only", "refund,crash,late-writer")) {
            assertThat(demo.exitCode()).as("%s%s", demo.out(), demo.err()).isZero();
            assertThat(demo.out())
                    .startsWith("{\"held\":true,\"broken\":0,\"store\":\"zookeeper://127.0.0.1:")
                    .contains("\"refunded\":1,\"toldAlreadyRefunded\":29", "\"acquiredMillisAfterLeaseEnd\":")
                    .contains("\"lateWritesAccepted\":0");
        }
    }

    /** Its processes and its server go with it, however it ends. */
    @Tag("deep")
    @Test
    void nothingOutlivesADemoThatIsKilled() throws Exception {
        try (HoldfastProcess demo = HoldfastProcess.start("demo", "--only", "long-job")) {
            demo.awaitOut("long job");
            ProcessHandle handle = ProcessHandle.of(demo.pid()).orElseThrow();
            assertThat(handle.descendants()).hasSizeGreaterThanOrEqualTo(4);
            ProcessTree all = new ProcessTree(handle);
            all.look();
            handle.destroyForcibly();
            assertThat(all.awaitEnd(Duration.ofSeconds(10))).isTrue();
        }
    }

    @Test
    void anUnknownSceneIsRefused() {
        InProcess result = InProcess.run("demo", "--only", "refund,tea");
        assertThat(result.exitCode()).isEqualTo(ExitCode.USAGE);
        assertThat(result.err()).startsWith("holdfast: --only: tea (expected: some of refund, inventory");
    }

    @Test
    void aStoreWithinOneProcessIsRefused() {
        InProcess result = InProcess.run("demo", "--store", "memory:x");
        assertThat(result.exitCode()).isEqualTo(ExitCode.USAGE);
        assertThat(result.err()).startsWith("holdfast: --store: memory:x lives within one process");
    }

    @Test
    void aServerThatIsNotThereIsOneLine() {
        InProcess result = InProcess.run("demo", "--store", "redis://127.0.0.1:1", "--json");
        assertThat(result.exitCode()).isEqualTo(ExitCode.STORE_UNAVAILABLE);
        assertThat(result.err().lines()).hasSize(1);
    }

    private static void assertKeysExpire(RedisServer redis) {
        for (Object key : (List<?>) redis.command("KEYS", "*")) {
            assertThat((Long) redis.command("PTTL", key.toString()))
                    .as("expiry of %s", key)
                    .isPositive();
        }
    }
}
