package io.holdfast.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.CardDetail;
import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.testkit.servers.RedisServer;
import org.junit.jupiter.api.Test;

/** {@code watch} and {@code release} as processes, on a real server. */
class WatchTest {

    @Test
    void followsALock() throws InterruptedException {
        try (RedisServer redis = RedisServer.start();
                // On a slow machine the processes take longer to start than the client to write its card.
                LockClient locks = LockClient.builder()
                        .uri(redis.uri())
                        .cards(CardDetail.OFF)
                        .build();
                CliProcess watch = CliProcess.start("watch", "--interval", "50ms", "--store", redis.uri(), "n");
                CliProcess json =
                        CliProcess.start("watch", "--json", "--interval", "50ms", "--store", redis.uri(), "n")) {
            watch.awaitOut("  free\n");
            json.awaitOut("\"event\":\"free\"");
            Lease lease = locks.acquire("n");
            watch.awaitOut("  acquired by hf-");
            json.awaitOut("\"event\":\"acquired\",\"holder\":\"" + locks.id() + ":");
            lease.release();
            watch.awaitOut("  released by ");
            json.awaitOut("\"event\":\"released\",\"holder\":null");
            redis.command("HSET", "lock:n", "5f1c0a4e-1111-2222-3333-444455556666:42", "1");
            redis.command("PEXPIRE", "lock:n", "1500");
            watch.awaitOut("  acquired by Redisson client 5f1c0a4e-1111-2222-3333-444455556666, thread 42");
            watch.awaitOut(
                    "  lost by Redisson client 5f1c0a4e-1111-2222-3333-444455556666, thread 42: its lease ran out");
            assertThat(watch.err()).isEmpty();
            assertThat(json.err()).isEmpty();
        }
    }

    @Test
    void releaseWithYes() {
        try (RedisServer redis = RedisServer.start();
                LockClient locks = LockClient.connect(redis.uri())) {
            Lease lease = locks.tryAcquire("n").orElseThrow();
            InProcess refused = InProcess.run("release", "--store", redis.uri(), "n");
            assertThat(refused.exitCode()).isEqualTo(64);
            assertThat(refused.errLines())
                    .containsExactly(
                            "holdfast: release breaks the promise of the lock, and there is no terminal to ask on"
                                    + " (expected: --yes)");
            assertThat(locks.inspect("n").isLocked()).isTrue();
            InProcess changed = InProcess.run("release", "-y", "--holder", "hf-a:1", "--store", redis.uri(), "n");
            assertThat(changed.exitCode()).isEqualTo(75);
            assertThat(changed.errLines())
                    .containsExactly("holdfast: n: not released, because its holder has changed since; it is "
                            + lease.holderId() + " now (expected: another look)");
            assertThat(lease.isValid()).isTrue();
            assertThat(InProcess.run("release", "-y", "--store", redis.uri(), "n")
                            .out())
                    .startsWith("n: released by force; it was held by ")
                    .hasLineCount(1);
            assertThat(InProcess.run("release", "--force", "--store", redis.uri(), "n")
                            .out())
                    .isEqualTo("n: nobody held it\n");
            await().until(() -> !lease.isValid());
        }
    }
}
