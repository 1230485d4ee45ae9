package io.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.testkit.servers.RedisServer;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Two clients on a real server that are as if restored from one image: one id, the same numbers. Their connections are
 * cut.
 */
class RestoredImageOnRedisTest {

    private static final LockOptions TEN_SECONDS = LockOptions.defaults().waitAtMost(Duration.ofSeconds(10));

    private static LockClient restored(RedisServer server, String mode) {
        return LockClient.builder()
                .uri(server.uri() + "?mode=" + mode)
                .settings(settings -> settings.clientId = "hf-image")
                .build();
    }

    /** Both connections of both clients come back by themselves. */
    private static void cutAll(RedisServer server, LockClient... clients) {
        server.command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
        server.command("CLIENT", "KILL", "TYPE", "pubsub");
        for (LockClient client : clients) {
            await().atMost(Duration.ofSeconds(20))
                    .ignoreExceptions()
                    .until(() -> !client.inspect("other").isLocked());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"lua", "commands"})
    void the_two_exclude_each_other(String mode) throws Exception {
        try (RedisServer server = RedisServer.start();
                LockClient a = restored(server, mode);
                LockClient b = restored(server, mode)) {
            cutAll(server, a, b);

            try (Lease first = a.acquire("x", TEN_SECONDS)) {
                assertThat(first.isValid()).isTrue();
                Optional<Lease> second = b.tryAcquire("x");
                assertThat(second).as("the same name at the copy").isEmpty();
            }
            try (Lease second = b.acquire("x", TEN_SECONDS)) {
                assertThat(second.isValid()).isTrue();
            }
        }
    }

    @Tag("deep") // quick: RestoredImageTest of core
    @ParameterizedTest
    @ValueSource(strings = {"lua", "commands"})
    void waits_from_before_the_image_end_with_one_owner_after_the_other(String mode) throws Exception {
        try (RedisServer server = RedisServer.start();
                LockClient other = LockClient.connect(server.uri() + "?mode=" + mode);
                LockClient a = restored(server, mode);
                LockClient b = restored(server, mode)) {
            Lease held = other.acquire("x");
            CompletableFuture<Lease> one = a.acquireAsync("x").toCompletableFuture();
            CompletableFuture<Lease> two = b.acquireAsync("x").toCompletableFuture();
            Thread.sleep(500);
            assertThat(one.isDone() || two.isDone()).isFalse();
            cutAll(server, other, a, b);
            held.release();

            await().atMost(Duration.ofSeconds(20)).until(() -> one.isDone() || two.isDone());
            // Longer than the interval at which the other one asks.
            Thread.sleep(3_000);
            assertThat(one.isDone() && two.isDone())
                    .as("both hold one name at once")
                    .isFalse();
            CompletableFuture<Lease> first = one.isDone() ? one : two;
            CompletableFuture<Lease> last = one.isDone() ? two : one;
            assertThat(first.join().isValid()).isTrue();
            first.join().release();
            await().atMost(Duration.ofSeconds(20)).until(last::isDone);
            last.join().release();
        }
    }
}
