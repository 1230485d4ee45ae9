package io.holdfast.spring.integration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LeaseLostException;
import io.holdfast.LockClient;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.springframework.integration.support.locks.DistributedLock;
import org.springframework.integration.support.locks.LockRegistry;

/** The registry with the types of Spring Integration 7. */
class HoldfastLockRegistryTest extends RegistryContract {

    @Override
    AbstractHoldfastLockRegistry<DistributedLock> registry(LockClient of) {
        return new HoldfastLockRegistry(of, "app");
    }

    @Test
    void a_lock_has_a_time_to_live_of_its_own() throws InterruptedException {
        LockRegistry<DistributedLock> registry = new HoldfastLockRegistry(client, "app");
        DistributedLock lock = registry.obtain("key");
        lock.lock(Duration.ofSeconds(5));
        assertThat(((io.holdfast.DistributedLock) lock).fencingToken()).isPositive();
        lock.unlock();
        assertThat(lock.tryLock(Duration.ZERO, Duration.ofSeconds(5))).isTrue();
        time.advance(Duration.ofSeconds(5));
        assertThat(client.inspect("app:key").isLocked()).isFalse();
        assertThatThrownBy(lock::unlock).isInstanceOf(LeaseLostException.class);
        assertThatThrownBy(() -> lock.lock(Duration.ofMillis(50))).isInstanceOf(IllegalArgumentException.class);
    }
}
