package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.ForcedRelease;
import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.testkit.servers.RedisServer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A release by force: whose hold it ends, and when the old holder learns of it. */
class ForcedReleaseHintTest {

    private static final String REDISSON = "285475da-9152-4c83-822a-67ee2f116a79:36";

    private static ThreeServers servers;

    @BeforeAll
    static void start() {
        servers = ThreeServers.start();
    }

    @AfterAll
    static void stop() {
        servers.close();
    }

    /** Without the message, the next renewal would tell it, after 10 s of the lease of 30 s. */
    @ParameterizedTest
    @ValueSource(strings = {"lua", "commands", "redlock"})
    void the_old_holder_is_told_long_before_its_next_renewal(String kind) throws Exception {
        try (LockClient holder = LockClient.connect(servers.uri(kind, ""));
                LockClient admin = LockClient.connect(servers.uri(kind, ""))) {
            for (int i = 0; i < 5; i++) {
                Lease lease = holder.acquire("told");
                CompletableFuture<Boolean> lost = new CompletableFuture<>();
                lease.onLost(() -> lost.complete(true));
                String id = admin.inspect("told").holder().orElseThrow();
                ForcedRelease release = admin.forceRelease("told", id);
                assertThat(release.holder()).contains(id);
                assertThat(release.isEnded()).isTrue();
                assertThat(lost).succeedsWithin(Duration.ofSeconds(5));
                assertThat(lease.isValid()).isFalse();
            }
        }
    }

    /** Messages that anybody may publish; a lease of 30 s would otherwise be renewed after 10 s. */
    @ParameterizedTest
    @ValueSource(strings = {"lua", "commands", "redlock"})
    void forged_messages_end_no_lease(String kind) throws Exception {
        try (LockClient holder = LockClient.connect(servers.uri(kind, ""))) {
            Lease lease = holder.acquire("forged");
            String id = holder.inspect("forged").holder().orElseThrow();
            String client = id.substring(0, id.lastIndexOf(':'));
            for (int i = 0; i < 500; i++) {
                for (RedisServer server : servers.of(kind)) {
                    Object held = kind.equals("redlock") ? server.command("GET", "lock:forged") : id;
                    String message = "f " + held + " lock:forged";
                    assertThat(server.command("PUBLISH", "holdfast:c:" + client, message))
                            .hasToString("1");
                }
            }
            assertThat(lease.isValid()).isTrue();
            lease.release();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"lua", "commands"})
    void a_thread_of_Redisson_is_compared_by_its_id(String kind) throws Exception {
        try (LockClient admin = LockClient.connect(servers.uri(kind, "namePrefix="))) {
            RedisServer server = servers.all().get(0);
            server.command("HSET", "theirs", REDISSON, "1");
            server.command("PEXPIRE", "theirs", "60000");
            ForcedRelease refused = admin.forceRelease("theirs", REDISSON.replace(":36", ":37"));
            assertThat(refused.outcome()).isEqualTo(ForcedRelease.Outcome.HELD_BY_ANOTHER);
            assertThat(refused.holder()).contains(REDISSON);
            assertThat(refused.holderTitle().orElseThrow())
                    .startsWith("Redisson client ")
                    .endsWith(", thread 36");
            assertThat(admin.forceRelease("theirs", REDISSON).isEnded()).isTrue();
            assertThat(server.command("EXISTS", "theirs")).hasToString("0");
        }
    }

    /** Only type and size of a foreign value are shown, and these are all that can be compared. */
    @ParameterizedTest
    @ValueSource(strings = {"lua", "commands"})
    void a_hand_written_lock_is_compared_by_what_is_shown_of_it(String kind) throws Exception {
        try (LockClient admin = LockClient.connect(servers.uri(kind, "namePrefix="))) {
            RedisServer server = servers.all().get(0);
            server.command("SET", "theirs", "some-secret", "PX", "60000");
            assertThat(admin.forceRelease("theirs", "hf-a:1").holder()).contains("a string of 11 bytes with an expiry");
            assertThat(admin.forceRelease("theirs", "a string of 12 bytes with an expiry")
                            .isEnded())
                    .isFalse();
            assertThat(admin.forceRelease("theirs", "a string of 11 bytes with an expiry")
                            .isEnded())
                    .isTrue();
            assertThat(admin.forceRelease("theirs", "a string of 11 bytes with an expiry")
                            .outcome())
                    .isEqualTo(ForcedRelease.Outcome.FREE);
        }
    }
}
