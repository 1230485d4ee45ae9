package io.holdfast;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.awaitility.Awaitility.await;

import io.holdfast.engine.EngineFixture;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Where the outcome of an asynchronous acquisition goes: to the caller at once, to the stage, or back to the store. */
class AsyncOutcomesTest extends EngineFixture {

    /**
     * Neither refuses a task nor runs it, as {@code CallerRunsPolicy} after {@code shutdown()} and {@code
     * DiscardPolicy}.
     */
    private final LockClient dropping =
            client("dropping", probe("dropping"), settings -> settings.callbackExecutor = task -> {});

    @Test
    void a_closed_client_completes_the_stage_of_every_form() {
        client.close();
        assertFailed(client.acquireAsync("a"), LockClientClosedException.class);
        assertFailed(client.acquireAsync("a", DEFAULTS), LockClientClosedException.class);
        assertFailed(client.tryAcquireAsync("a", DEFAULTS), LockClientClosedException.class);
        assertFailed(client.acquireAllAsync(List.of("a", "b"), DEFAULTS), LockClientClosedException.class);
        assertFailed(client.tryAcquireAllAsync(List.of("a", "b"), DEFAULTS), LockClientClosedException.class);
    }

    @Test
    void a_mistake_is_thrown_at_once_by_every_form_also_after_the_close() {
        for (int i = 0; i < 2; i++) {
            assertThatIllegalArgumentException().isThrownBy(() -> client.acquireAsync(" "));
            assertThatIllegalArgumentException().isThrownBy(() -> client.tryAcquireAsync(" ", DEFAULTS));
            assertThatIllegalArgumentException().isThrownBy(() -> client.acquireAllAsync(List.of(" "), DEFAULTS));
            assertThatIllegalArgumentException().isThrownBy(() -> client.tryAcquireAllAsync(List.of(" "), DEFAULTS));
            assertThatNullPointerException().isThrownBy(() -> client.acquireAsync("a", (LockOptions) null));
            assertThatNullPointerException().isThrownBy(() -> client.tryAcquireAsync("a", (LockOptions) null));
            assertThatNullPointerException().isThrownBy(() -> client.acquireAllAsync(List.of("a"), (LockOptions) null));
            assertThatNullPointerException()
                    .isThrownBy(() -> client.tryAcquireAllAsync(List.of("a"), (LockOptions) null));
            client.close();
        }
    }

    @Test
    void a_lease_that_the_executor_does_not_deliver_is_given_back_after_its_length() {
        CompletableFuture<Lease> dropped = acquire(dropping, "a");
        assertThat(client.tryAcquire("a")).isEmpty();
        advance(LEASE.toMillis() + 1);

        await().until(dropped::isDone);
        assertFailed(dropped, LeaseLostException.class);
        now(acquire(client, "a")).release();
    }

    @Test
    void several_leases_that_the_executor_does_not_deliver_are_given_back() {
        CompletableFuture<MultiLease> dropped =
                dropping.acquireAllAsync(List.of("a", "b"), DEFAULTS).toCompletableFuture();
        advance(LEASE.toMillis() + 1);

        await().until(dropped::isDone);
        assertFailed(dropped, LeaseLostException.class);
        now(acquire(client, "a")).release();
        now(acquire(client, "b")).release();
    }

    @Test
    void a_delivery_that_begins_late_finds_nothing_to_deliver() {
        AtomicReference<Runnable> late = new AtomicReference<>();
        LockClient slow = client("slow", probe("slow"), settings -> settings.callbackExecutor = late::set);
        CompletableFuture<Lease> given = acquire(slow, "a");
        advance(LEASE.toMillis() + 1);
        await().until(given::isDone);
        Lease next = now(acquire(client, "a"));

        late.get().run();
        assertThat(next.isValid()).isTrue();
        assertFailed(given, LeaseLostException.class);
        next.release();
    }

    @Test
    void a_lease_that_is_delivered_within_its_length_stays() {
        AtomicReference<Runnable> late = new AtomicReference<>();
        LockClient slow = client("slow", probe("slow"), settings -> settings.callbackExecutor = late::set);
        CompletableFuture<Lease> given = acquire(slow, "a");
        advance(LEASE.toMillis() - 100);
        late.get().run();
        advance(10 * LEASE.toMillis());

        Lease lease = now(given);
        assertThat(lease.isValid()).isTrue();
        lease.release();
    }

    private static void assertFailed(CompletionStage<?> stage, Class<? extends Throwable> why) {
        assertThat(stage.toCompletableFuture())
                .failsWithin(Duration.ZERO)
                .withThrowableThat()
                .havingCause()
                .isInstanceOf(why);
    }
}
