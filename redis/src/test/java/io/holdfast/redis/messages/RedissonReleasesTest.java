package io.holdfast.redis.messages;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

public class RedissonReleasesTest {

    private final List<String> sent = new ArrayList<>();
    private final List<String> released = new ArrayList<>();
    private CompletableFuture<Void> subscription = new CompletableFuture<>();
    private final RedissonReleases releases = new RedissonReleases(
            new RedissonReleases.Channels() {
                @Override
                public CompletionStage<Void> subscribe(String name, String channel) {
                    sent.add("+" + channel);
                    return subscription;
                }

                @Override
                public void unsubscribe(String channel) {
                    sent.add("-" + channel);
                }
            },
            released::add);

    @Test
    void oneSubscriptionServesAllWhoWait() {
        releases.watch("n", "a:1", 0);
        releases.watch("n", "a:2", 0);
        releases.watch("n", "a:1", 0);
        assertThat(sent).containsExactly("+redisson_lock__channel:{n}");

        releases.unwatch("n", "a:1");
        releases.unwatch("n", "a:1");
        releases.unwatch("n", "unknown");
        assertThat(sent).hasSize(1);
        releases.unwatch("n", "a:2");
        assertThat(sent).containsExactly("+redisson_lock__channel:{n}", "-redisson_lock__channel:{n}");
        assertThat(releases.size()).isZero();
    }

    /** Whoever may publish can send a grant, but cannot repeat the nonce of the last request. */
    @Test
    void aGrantEndsASubscriptionOnlyIfItRepeatsTheNonce() {
        releases.watch("n", "a:1", 17);
        releases.watch("n", "a:1", 18);
        releases.unwatch("n", "a:1", 17L);
        releases.unwatch("n", "a:1", -1L);
        assertThat(sent).containsExactly("+redisson_lock__channel:{n}");

        releases.unwatch("n", "a:1", 18L);
        assertThat(sent).containsExactly("+redisson_lock__channel:{n}", "-redisson_lock__channel:{n}");
    }

    /** The release may have come between the answer "busy" and the subscription. */
    @Test
    void theConfirmationCountsAsARelease() {
        releases.watch("n", "a:1", 0);
        assertThat(released).isEmpty();
        subscription.complete(null);
        assertThat(released).containsExactly("n");
        releases.message("redisson_lock__channel:{n}");
        assertThat(released).containsExactly("n", "n");
    }

    @Test
    void aFailedSubscriptionIsTriedAgainWithTheNextPoll() {
        releases.watch("n", "a:1", 0);
        subscription.completeExceptionally(new IllegalStateException("not connected"));
        assertThat(released).isEmpty();

        subscription = CompletableFuture.completedFuture(null);
        releases.watch("n", "a:1", 0);
        assertThat(sent).hasSize(2);
        assertThat(released).containsExactly("n");
    }

    @Test
    void namesThatShareAChannelAreTold() {
        releases.watch("x", "a:1", 0);
        releases.watch("{x}", "a:2", 0);
        assertThat(sent).containsExactly("+redisson_lock__channel:{x}");
        releases.message("redisson_lock__channel:{x}");
        assertThat(released).containsExactlyInAnyOrder("x", "{x}");
        releases.unwatch("x", "a:1");
        assertThat(sent).hasSize(1);
        released.clear();
        releases.message("redisson_lock__channel:{x}");
        assertThat(released).containsExactly("{x}");
    }

    /** The driver subscribes again to all it knows of after a reconnect. */
    @Test
    void aSubscriptionThatNobodyNeedsIsEnded() {
        releases.message("redisson_lock__channel:{old}");
        assertThat(released).isEmpty();
        assertThat(sent).containsExactly("-redisson_lock__channel:{old}");
    }
}
