package io.holdfast.engine;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.engine.ProbeStore.Fate;
import io.holdfast.spi.StoreException;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/**
 * Two processes from one image: both clients have the same id and the same counters, and share a grant channel. Then
 * the connections of each are made anew.
 */
class RestoredImageTest extends EngineFixture {

    private final ProbeStore behindA = probe("image");
    private final LockClient a = client("image", behindA, settings -> settings.freshBits = () -> 0x1111_2222_3333L);
    private final ProbeStore behindB = probe("image");
    private final LockClient b = client("image", behindB, settings -> settings.freshBits = () -> 0x4444_5555_6666L);

    private static void reconnect(ProbeStore store) {
        requireNonNull(store.listener).connecting();
        requireNonNull(store.listener).reconnected();
    }

    @Test
    void new_acquisitions_of_both_have_different_ids_and_exclude_each_other() {
        reconnect(behindA);
        reconnect(behindB);
        CompletableFuture<Lease> first = acquire(a, "x");
        CompletableFuture<Lease> second = acquire(b, "x");
        advance(100);

        assertThat(now(first).isValid()).isTrue();
        assertThat(second).as("the same name at the copy").isNotDone();
        now(first).release();
        advance(2_000);
        assertThat(now(second).isValid()).isTrue();
        assertThat(now(second).fencingToken()).isGreaterThan(now(first).fencingToken());
    }

    @Test
    void an_acquisition_from_before_the_image_is_asked_for_by_a_new_id() {
        CompletableFuture<Lease> held = acquire(client, "x");
        CompletableFuture<Lease> first = acquire(a, "x");
        CompletableFuture<Lease> second = acquire(b, "x");
        advance(100);
        reconnect(behindA);
        reconnect(behindB);
        advance(2_000);
        now(held).release();
        advance(2_000);

        assertThat(first.isDone() && second.isDone())
                .as("both hold one name at once")
                .isFalse();
        CompletableFuture<Lease> winner = first.isDone() ? first : second;
        CompletableFuture<Lease> other = first.isDone() ? second : first;
        assertThat(now(winner).isValid()).isTrue();
        advance(10_000);
        assertThat(now(winner).isValid()).as("the copy has not withdrawn it").isTrue();
        now(winner).release();
        advance(5_000);
        assertThat(now(other).isValid()).isTrue();
    }

    @Test
    void an_acquisition_of_unknown_outcome_is_not_repeated_under_its_old_id() {
        behindA.acquires = Fate.FAIL;
        behindB.acquires = Fate.FAIL;
        behindA.failure = new StoreException(StoreException.Outcome.UNKNOWN, "store: cut off", null);
        behindB.failure = behindA.failure;
        CompletableFuture<Lease> first = acquire(a, "x");
        CompletableFuture<Lease> second = acquire(b, "x");
        behindA.acquires = Fate.PASS;
        behindB.acquires = Fate.PASS;
        reconnect(behindA);
        reconnect(behindB);
        advance(3_000);

        assertThat(first.isDone() && second.isDone())
                .as("both hold one name at once")
                .isFalse();
        now(first.isDone() ? first : second).release();
        advance(5_000);
        assertThat(first.isDone() && second.isDone()).isTrue();
        now(second).release();
        now(first).release();
    }

    @Test
    void a_grant_of_the_old_id_that_comes_after_the_new_connection_is_not_used() {
        behindA.acquires = Fate.REPLY_HELD;
        behindB.acquires = Fate.REPLY_HELD;
        CompletableFuture<Lease> first = acquire(a, "x");
        CompletableFuture<Lease> second = acquire(b, "x");
        behindA.acquires = Fate.PASS;
        behindB.acquires = Fate.PASS;
        requireNonNull(behindA.listener).connecting();
        requireNonNull(behindB.listener).connecting();
        behindA.deliverReplies();
        behindB.deliverReplies();
        advance(3_000);

        assertThat(first.isDone() && second.isDone())
                .as("both hold one name at once")
                .isFalse();
        assertThat(now(first.isDone() ? first : second).isValid()).isTrue();
    }

    @Test
    void a_grant_for_the_copy_on_the_shared_channel_is_left_alone() {
        CompletableFuture<Lease> held = acquire(client, "x");
        reconnect(behindA);
        reconnect(behindB);
        CompletableFuture<Lease> second = acquire(b, "x");
        advance(100);
        // Both copies listen on one channel.
        behindB.messages = true;
        now(held).release();
        advance(2_000);
        assertThat(now(second).isValid()).isTrue();
        behindA.commands.clear();
        requireNonNull(behindA.listener).granted("x", behindB.lastHolderId());
        advance(2_000);

        assertThat(behindA.commands).as("commands of the copy").isEmpty();
        assertThat(now(second).isValid()).isTrue();
    }
}
