package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.LockState;
import io.holdfast.LockStoreException;
import io.holdfast.testkit.servers.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Keys of the application under the names of locks: not used, not deleted, not shown. */
@Tag("deep")
class OtherPeoplesKeysTest {

    private static final String REDISSON = "285475da-9152-4c83-822a-67ee2f116a79:36";
    private static final LockOptions AT_ONCE = LockOptions.defaults().waitAtMost(Duration.ZERO);

    private static ThreeServers servers;

    @BeforeAll
    static void start() {
        servers = ThreeServers.start();
    }

    @AfterAll
    static void stop() {
        servers.close();
    }

    @BeforeEach
    @AfterEach
    void clear() {
        servers.all().forEach(server -> {
            for (String key : List.of("user:17", "lock:user:17", "n")) {
                server.command("DEL", key);
            }
        });
    }

    // --- the prefix ---

    @ParameterizedTest
    @ValueSource(strings = {"lua", "commands", "redlock"})
    void aLockOfTheNameOfAnApplicationsKeyDoesNotMeetIt(String kind) throws Exception {
        everywhere("HSET", "user:17", "name", "Ada");
        try (LockClient locks = LockClient.connect(servers.uri(kind, ""))) {
            try (Lease lease = locks.acquire("user:17", AT_ONCE)) {
                assertThat(lease.name()).isEqualTo("user:17");
                shows(kind, "1", "EXISTS", "lock:user:17");
                LockState state = locks.inspect("user:17");
                assertThat(state.name()).isEqualTo("user:17");
                assertThat(state.isLocked()).isTrue();
            }
            assertThat(locks.forceRelease("user:17")).isFalse();
        }
        shows(kind, "[name, Ada]", "HGETALL", "user:17");
        shows(kind, "0", "EXISTS", "lock:user:17");
    }

    /** The hand-off, and the message that somebody waits, name the key on the wire and the lock to the engine. */
    @ParameterizedTest
    @ValueSource(strings = {"lua", "commands", "redlock"})
    void waitersAreServedUnderThePrefix(String kind) throws Exception {
        try (LockClient a = LockClient.connect(servers.uri(kind, "namePrefix={app}:"));
                LockClient b = LockClient.connect(servers.uri(kind, "namePrefix={app}:"))) {
            Lease held = a.acquire("user:17");
            var waiting = b.acquireAsync("user:17", LockOptions.defaults().waitAtMost(Duration.ofSeconds(30)))
                    .toCompletableFuture();
            assertThat(waiting).isNotDone();
            held.release();
            Lease next = waiting.join();
            assertThat(next.name()).isEqualTo("user:17");
            assertThat(next.fencingToken()).isGreaterThan(held.fencingToken());
            shows(kind, "1", "EXISTS", "{app}:user:17");
            next.release();
        }
    }

    // --- what force deletes ---

    @ParameterizedTest
    @ValueSource(strings = {"lua", "commands", "redlock"})
    void forceRefusesAHashThatIsNoLock(String kind) throws Exception {
        everywhere("HSET", "n", "name", "Ada", "password", "secret");
        everywhere("PEXPIRE", "n", "60000");
        refuses(kind, "a hash that is no lock");
        shows(kind, "2", "HLEN", "n");
    }

    @ParameterizedTest
    @ValueSource(strings = {"lua", "commands", "redlock"})
    void forceRefusesALockOntoWhichSomebodyPutFields(String kind) throws Exception {
        everywhere("HSET", "n", REDISSON, "1", "name", "Ada");
        everywhere("PEXPIRE", "n", "60000");
        refuses(kind, "a hash that is no lock");
        shows(kind, "2", "HLEN", "n");
    }

    @ParameterizedTest
    @ValueSource(strings = {"lua", "commands", "redlock"})
    void forceRefusesAStringWithoutExpiry(String kind) throws Exception {
        everywhere("SET", "n", "secret");
        refuses(kind, "a string that is no lock");
        shows(kind, "secret", "GET", "n");
    }

    @ParameterizedTest
    @ValueSource(strings = {"lua", "commands", "redlock"})
    void forceDeletesAHandWrittenLock(String kind) throws Exception {
        everywhere("SET", "n", "mine", "PX", "60000");
        forces(kind);
    }

    @ParameterizedTest
    @ValueSource(strings = {"lua", "commands", "redlock"})
    void forceDeletesRedissonsLock(String kind) throws Exception {
        everywhere("HSET", "n", REDISSON, "1");
        everywhere("PEXPIRE", "n", "60000");
        forces(kind);
    }

    @ParameterizedTest
    @ValueSource(strings = {"lua", "commands", "redlock"})
    void forceDeletesRedissonsReadWriteLock(String kind) throws Exception {
        everywhere("HSET", "n", "mode", "write", REDISSON + ":write", "1");
        everywhere("PEXPIRE", "n", "60000");
        forces(kind);
    }

    @ParameterizedTest
    @ValueSource(strings = {"lua", "commands", "redlock"})
    void forceDeletesOurs(String kind) throws Exception {
        try (LockClient locks = LockClient.connect(servers.uri(kind, "namePrefix="));
                LockClient other = LockClient.connect(servers.uri(kind, "namePrefix="))) {
            Lease held = locks.acquire("n");
            assertThat(other.forceRelease("n")).isTrue();
            shows(kind, "0", "EXISTS", "n");
            assertThatThrownBy(held::release).isInstanceOf(LeaseLostException.class);
        }
    }

    // --- what a release leaves ---

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aReleaseLeavesFieldsThatOthersPutThereMeanwhile(boolean othersWait) throws Exception {
        RedisServer server = servers.all().get(0);
        try (LockClient locks = LockClient.connect(servers.uri("lua", "namePrefix="));
                LockClient other = LockClient.connect(servers.uri("lua", "namePrefix="))) {
            Lease held = locks.acquire("n");
            server.command("HSET", "n", "name", "Ada");
            var waiting = othersWait
                    ? other.acquireAsync("n", LockOptions.defaults().waitAtMost(Duration.ofSeconds(30)))
                            .toCompletableFuture()
                    : null;
            held.release();
            assertThat(server.command("HGETALL", "n")).hasToString("[name, Ada]");
            assertThat(server.command("PTTL", "n")).isEqualTo(-1L);
            if (waiting != null) {
                assertThatThrownBy(waiting::join).hasMessageContaining("a hash that is no lock without expiry");
            }
        }
    }

    /** A client whose threads queue gives the lock up and queues again in one command. */
    @ParameterizedTest
    @ValueSource(strings = {"", "1"})
    void aReleaseThatQueuesAgainLeavesThemToo(String settings) throws Exception {
        RedisServer server = servers.all().get(0);
        try (TestClient a = new TestClient(servers.uri("lua", "namePrefix="));
                TestClient b = new TestClient(servers.uri("lua", "namePrefix="))) {
            String holder = a.hold("n");
            String waiting = a.queue("n");
            if (!settings.isEmpty()) {
                a.renew("n", holder, 20_000, 1, true);
            }
            server.command("HSET", "n", "name", "Ada");
            assertThat(a.releaseAndRequeue("n", holder, a.newHolder()).wasHeld())
                    .isTrue();
            assertThat(server.command("HGETALL", "n")).hasToString("[name, Ada]");
            assertThat(server.command("PTTL", "n")).isEqualTo(-1L);
            server.command("DEL", "n");
            b.queue("n");
            a.await("granted n " + waiting, 10_000);
        }
    }

    // --- what is shown ---

    @ParameterizedTest
    @ValueSource(strings = {"lua", "commands", "redlock"})
    void whatIsNoHolderIsNotShown(String kind) throws Exception {
        String uuid = "0f8fad5b-d9cb-469f-a165-70867728950e";
        assertThat(holder(kind, "SET", "n", "hf-secret password")).hasValue("a string that is no lock");
        assertThat(holder(kind, "SET", "n", uuid, "PX", "60000")).hasValue("a string of 36 bytes with an expiry");
        assertThat(holder(kind, "SET", "n", "gr\u00fc\u00df", "PX", "60000"))
                .hasValue("a string of 6 bytes with an expiry");
        assertThat(holder(kind, "HSET", "n", "secret@example.org", "1")).hasValue("a hash that is no lock");
        assertThat(holder(kind, "HSET", "n", "~seq", "1")).hasValue("a hash that is no lock");
        assertThat(holder(kind, "RPUSH", "n", "secret")).hasValue("a list that is no lock");
        assumeThat(kind).isNotEqualTo("redlock"); // there, such a hash is no vote of anybody's
        assertThat(holder(kind, "HSET", "n", REDISSON, "1", "secret", "1")).hasValue(REDISSON);
    }

    @ParameterizedTest
    @ValueSource(strings = {"lua", "commands", "redlock"})
    void anErrorDoesNotShowTheValueEither(String kind) throws Exception {
        everywhere("SET", "n", "secret password");
        try (LockClient locks = LockClient.connect(servers.uri(kind, "namePrefix="))) {
            assertThatThrownBy(
                            () -> locks.tryAcquire("n", LockOptions.defaults().waitAtMost(Duration.ofSeconds(10))))
                    .isInstanceOf(LockStoreException.class)
                    .hasMessageContaining("a string that is no lock")
                    .hasMessageNotContaining("secret");
        }
    }

    // --- our own keys ---

    @ParameterizedTest
    @ValueSource(strings = {"lua", "commands", "redlock"})
    void aNameAmongOurOwnKeysIsRefused(String kind) throws Exception {
        try (LockClient locks = LockClient.connect(servers.uri(kind, "namePrefix="))) {
            for (String name : List.of("holdfast:q:{y}", "holdfast:birth")) {
                assertThatThrownBy(() -> locks.acquire(name, AT_ONCE))
                        .isInstanceOf(LockStoreException.class)
                        .hasMessageContaining("\"" + name + "\"")
                        .hasMessageContaining("expected: a name that does not begin with \"holdfast:\"");
                assertThatThrownBy(() -> locks.inspect(name)).isInstanceOf(LockStoreException.class);
                assertThatThrownBy(() -> locks.forceRelease(name)).isInstanceOf(LockStoreException.class);
                assertThatThrownBy(() -> locks.tryAcquireAll(List.of("z", name), AT_ONCE))
                        .isInstanceOf(LockStoreException.class);
            }
            locks.acquire("holdfast", AT_ONCE).release();
            locks.acquire("y", AT_ONCE).release();
        }
    }

    // --- helpers ---

    private static void refuses(String kind, String what) throws Exception {
        try (LockClient locks = LockClient.connect(servers.uri(kind, "namePrefix="))) {
            assertThatThrownBy(() -> locks.forceRelease("n"))
                    .isInstanceOf(LockStoreException.class)
                    .hasMessageContaining("\"n\"")
                    .hasMessageContaining(what)
                    .hasMessageNotContaining("secret");
        }
    }

    private static void forces(String kind) throws Exception {
        try (LockClient locks = LockClient.connect(servers.uri(kind, "namePrefix="))) {
            assertThat(locks.forceRelease("n")).isTrue();
            shows(kind, "0", "EXISTS", "n");
            assertThat(locks.forceRelease("n")).isFalse();
        }
    }

    private static Optional<String> holder(String kind, String... command) throws Exception {
        servers.all().forEach(server -> server.command("DEL", "n"));
        everywhere(command);
        try (LockClient locks = LockClient.connect(servers.uri(kind, "namePrefix="))) {
            return locks.inspect("n").holder();
        }
    }

    private static void everywhere(String... command) {
        servers.all().forEach(server -> server.command(command));
    }

    /** A quorum needs most of its members only, and does not wait for the last one. */
    private static void shows(String kind, String expected, String command, String key) {
        if (kind.equals("redlock")) {
            assertThat(servers.all().stream()
                            .map(server -> String.valueOf(server.command(command, key)))
                            .filter(expected::equals))
                    .hasSizeGreaterThanOrEqualTo(2);
        } else {
            assertThat(servers.all().get(0).command(command, key)).hasToString(expected);
        }
    }
}
