package io.holdfast.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.DistributedLock;
import io.holdfast.LeaseLostException;
import io.holdfast.LockClient;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A thread's lock over a close and a reopening of the client: {@code unlock} says that the lock was lost. */
class ReopenedLockTest {

    private final LockClient client = LockClient.connect("memory:reopened");
    private final DistributedLock lock = client.getLock("x");

    @AfterEach
    void close() {
        client.close();
    }

    @Test
    void each_close_has_a_stage_of_its_own() {
        CompletableFuture<?> first = client.whenClosed().toCompletableFuture();
        assertThat(first).isNotDone();
        client.close();
        assertThat(first).isCompleted();
        assertThat(client.whenClosed().toCompletableFuture()).isCompleted();
        client.reopen();
        CompletableFuture<?> second = client.whenClosed().toCompletableFuture();
        assertThat(second).isNotDone();
        client.close();
        assertThat(second).isCompleted();
    }

    @Test
    void nobody_outside_completes_the_stage_of_a_close() {
        client.whenClosed().toCompletableFuture().complete(null);
        assertThat(client.whenClosed().toCompletableFuture()).isNotDone();
        assertThat(client.tryAcquire("x")).isPresent();
    }

    @Test
    void a_loss_is_reported_after_the_close() {
        lock.lock();
        client.close();
        assertThatThrownBy(lock::unlock).isInstanceOf(LeaseLostException.class);
    }

    @Test
    void a_loss_before_the_reopening_is_reported_after_it() {
        lock.lock();
        lock.lock();
        client.close();
        client.reopen();
        for (int i = 0; i < 2; i++) {
            assertThatThrownBy(lock::unlock)
                    .isInstanceOf(LeaseLostException.class)
                    .hasMessageContaining("the client was closed");
        }
        assertThatThrownBy(lock::unlock).isExactlyInstanceOf(IllegalMonitorStateException.class);
    }

    @Test
    void a_new_hold_is_released_before_the_lost_one_is_reported() {
        lock.lock();
        client.close();
        client.reopen();
        lock.lock();
        lock.unlock();
        assertThatThrownBy(lock::unlock).isInstanceOf(LeaseLostException.class);
    }
}
