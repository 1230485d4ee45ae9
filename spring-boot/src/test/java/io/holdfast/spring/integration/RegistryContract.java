package io.holdfast.spring.integration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.DistributedLock;
import io.holdfast.LeaseLostException;
import io.holdfast.LockClient;
import io.holdfast.memory.MemoryLockStore;
import io.holdfast.memory.VirtualTime;
import io.holdfast.spi.StoreContext;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What code asks of a renewable and expirable registry, in virtual time. Each version has a class for its types. */
abstract class RegistryContract {

    final VirtualTime time = new VirtualTime();
    private final MemoryLockStore.Server server = new MemoryLockStore.Server(time);
    final LockClient client = client("one");
    private final LockClient other = client("two");

    private LockClient client(String id) {
        return LockClient.builder()
                .store(server.connect(new StoreContext(id, time)))
                .timeSource(time)
                .build();
    }

    abstract AbstractHoldfastLockRegistry<? extends Lock> registry(LockClient of);

    @AfterEach
    void close() {
        client.close();
        other.close();
    }

    private Duration remaining() {
        return client.inspect("app:key").remaining().orElse(Duration.ZERO);
    }

    @Test
    void a_key_has_one_lock_object_until_it_is_unused_for_long() throws InterruptedException {
        var registry = registry(client);
        Lock lock = registry.obtain("key");
        assertThat(registry.obtain("key")).isSameAs(lock);
        assertThat(registry.obtain("other")).isNotSameAs(lock);
        registry.expireUnusedOlderThan(60_000);
        assertThat(registry.obtain("key")).isSameAs(lock);

        lock.lock();
        registry.expireUnusedOlderThan(-1_000);
        Lock again = registry.obtain("key");
        assertThat(again).isNotSameAs(lock);
        assertThat(again.tryLock()).as("the same lock, held by this thread").isTrue();
        again.unlock();
        assertThat(registry(other).obtain("key").tryLock()).isFalse();
        lock.unlock();
        assertThat(registry(other).obtain("key").tryLock(1, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void a_lock_is_renewed_without_a_scheduler() {
        Lock lock = registry(client).obtain("key");
        lock.lock();
        time.advance(Duration.ofMinutes(10));
        assertThat(registry(other).obtain("key").tryLock()).isFalse();
        lock.unlock();
    }

    @Test
    void a_lock_of_fixed_length_can_be_renewed_by_its_thread() throws InterruptedException {
        var registry = registry(client);
        DistributedLock lock = (DistributedLock) registry.obtain("key");
        assertThat(lock.tryLock(0, 5, TimeUnit.SECONDS)).isTrue();
        registry.renewLock("key", Duration.ofMinutes(2));
        assertThat(remaining()).isEqualTo(Duration.ofMinutes(2));
        time.advance(Duration.ofMinutes(1));
        registry.renewLock("key");
        assertThat(remaining()).isEqualTo(Duration.ofSeconds(30));
        lock.unlock();
        assertThat(client.inspect("app:key").isLocked()).isFalse();
    }

    @Test
    void a_renewed_lock_is_certain_for_the_time_and_goes_on() {
        var registry = registry(client);
        Lock lock = registry.obtain("key");
        lock.lock();
        registry.renewLock("key", Duration.ofMinutes(5));
        assertThat(remaining()).isEqualTo(Duration.ofMinutes(5));
        time.advance(Duration.ofMinutes(60));
        lock.unlock();
    }

    @Test
    void only_the_thread_that_holds_the_lock_renews_it() {
        var registry = registry(client);
        assertThatThrownBy(() -> registry.renewLock("key"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("\"app:key\"");
        registry.obtain("key").lock();
        assertThatThrownBy(() -> registry(other).renewLock("key")).isInstanceOf(IllegalStateException.class);
        other.forceRelease("app:key");
        assertThatThrownBy(() -> registry.renewLock("key")).isInstanceOf(LeaseLostException.class);
        assertThatThrownBy(() -> registry.renewLock("key")).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> registry.obtain("key").unlock()).isInstanceOf(LeaseLostException.class);
    }

    @Test
    void a_task_runs_under_the_lock_or_not_at_all() throws Exception {
        AtomicInteger ran = new AtomicInteger();
        try (LockClient here = LockClient.connect("memory:registry-tasks");
                LockClient elsewhere = LockClient.connect("memory:registry-tasks")) {
            var registry = registry(here);
            registry.executeLocked("key", ran::incrementAndGet);
            Lock held = registry(elsewhere).obtain("key");
            held.lock();
            assertThatThrownBy(() -> registry.executeLocked("key", Duration.ofMillis(50), ran::incrementAndGet))
                    .isInstanceOf(TimeoutException.class);
            held.unlock();
            assertThat(ran).hasValue(1);
            assertThat(registry.<Integer, RuntimeException>executeLocked(
                            "key", Duration.ofSeconds(10), ran::incrementAndGet))
                    .isEqualTo(2);
        }
    }
}
