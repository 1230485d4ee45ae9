package io.holdfast.spring.boot4;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.LockClient;
import io.holdfast.spring.integration.HoldfastLockRegistry;
import io.holdfast.spring.shedlock.HoldfastLockProvider;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;
import net.javacrumbs.shedlock.core.DefaultLockingTaskExecutor;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;
import org.junit.jupiter.api.Test;
import org.springframework.integration.leader.Context;
import org.springframework.integration.leader.DefaultCandidate;
import org.springframework.integration.support.leader.LockRegistryLeaderInitiator;

/** Code written for Spring Integration or ShedLock runs on Holdfast by a bean. */
class InteropTest {

    @Test
    void a_lock_registry_gives_locks_that_exclude_other_instances() throws Exception {
        try (LockClient one = LockClient.connect("memory:registry");
                LockClient two = LockClient.connect("memory:registry")) {
            var registry = new HoldfastLockRegistry(one, "app");
            Lock lock = registry.obtain("key");
            lock.lock();
            try {
                assertThat(new HoldfastLockRegistry(two, "app").obtain("key").tryLock())
                        .isFalse();
                assertThat(new HoldfastLockRegistry(two, "app").obtain("other").tryLock())
                        .isTrue();
                assertThat(registry.obtain("key").tryLock()).as("reentrant").isTrue();
                lock.unlock();
            } finally {
                lock.unlock();
            }
            registry.executeLocked(
                    "key", () -> assertThat(one.inspect("app:key").isLocked()).isTrue());
            assertThat(one.inspect("app:key").isLocked()).isFalse();
            assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);
        }
    }

    /** It takes the lock again at each heartbeat, and unlocks that once: a new lease would be given back each time. */
    @Test
    void a_leader_that_lost_its_lock_is_told_so_before_it_leads_again() throws Exception {
        try (LockClient client = LockClient.connect("memory:leader")) {
            AtomicInteger granted = new AtomicInteger();
            AtomicInteger revoked = new AtomicInteger();
            var initiator = new LockRegistryLeaderInitiator(
                    new HoldfastLockRegistry(client, "app"), new DefaultCandidate("me", "leader") {
                        @Override
                        public void onGranted(Context context) {
                            granted.incrementAndGet();
                        }

                        @Override
                        public void onRevoked(Context context) {
                            revoked.incrementAndGet();
                        }
                    });
            initiator.setHeartBeatMillis(20);
            initiator.setBusyWaitMillis(20);
            initiator.start();
            try {
                await().until(() -> granted.get() == 1);
                assertThat(client.forceRelease("app:leader")).isTrue();
                await().until(() -> granted.get() == 2);
                assertThat(revoked).hasValue(1);
                assertThat(client.inspect("app:leader").isLocked()).isTrue();
                await().during(Duration.ofMillis(200))
                        .until(() -> client.inspect("app:leader").isLocked());

                // Somebody else leads for a while.
                try (LockClient other = LockClient.connect("memory:leader")) {
                    var waiting = other.acquireAsync("app:leader").toCompletableFuture();
                    await().until(() -> client.inspect("app:leader").waitingClients() == 1);
                    assertThat(client.forceRelease("app:leader")).isTrue();
                    Lease theirs = waiting.get(10, TimeUnit.SECONDS);
                    await().until(() -> revoked.get() >= 2);
                    theirs.release();
                }
                int before = revoked.get();
                await().until(() -> granted.get() == before + 1);
                assertThat(client.inspect("app:leader").isLocked()).isTrue();
            } finally {
                initiator.destroy();
            }
        }
    }

    @Test
    void a_loss_is_told_once_to_whoever_locks_again() throws Exception {
        try (LockClient client = LockClient.connect("memory:told-once")) {
            Lock lock = new HoldfastLockRegistry(client, "app").obtain("key");
            lock.lock();
            lock.lock();
            client.forceRelease("app:key");
            await().until(() -> client.localLocks().isEmpty());
            assertThatThrownBy(lock::tryLock).isInstanceOf(LeaseLostException.class);
            assertThat(client.inspect("app:key").isLocked()).isFalse();
            assertThatThrownBy(lock::unlock).isInstanceOf(LeaseLostException.class);
            assertThatThrownBy(lock::unlock).isInstanceOf(LeaseLostException.class);
            assertThatThrownBy(lock::unlock).isInstanceOf(IllegalMonitorStateException.class);
            assertThat(lock.tryLock()).isTrue();
            lock.unlock();

            // Also around a nested lock of a fixed length.
            var nesting = new HoldfastLockRegistry(client, "app").obtain("nested");
            nesting.lock();
            assertThat(nesting.tryLock(Duration.ZERO, Duration.ofSeconds(5))).isTrue();
            nesting.unlock();
            client.forceRelease("app:nested");
            await().until(() -> client.localLocks().isEmpty());
            assertThatThrownBy(nesting::lock).isInstanceOf(LeaseLostException.class);
            assertThatThrownBy(nesting::unlock).isInstanceOf(LeaseLostException.class);

            // A throttle: never unlocked, and that it ends is what it is for.
            var throttle = new HoldfastLockRegistry(client, "app").obtain("throttle");
            for (int i = 0; i < 3; i++) {
                await().until(() -> !client.inspect("app:throttle").isLocked());
                assertThat(throttle.tryLock(Duration.ZERO, Duration.ofMillis(150)))
                        .isTrue();
            }
        }
    }

    @Test
    void shedlock_skips_a_task_that_runs_elsewhere_and_keeps_it_locked_at_least() throws Throwable {
        try (LockClient one = LockClient.connect("memory:shedlock");
                LockClient two = LockClient.connect("memory:shedlock")) {
            LockConfiguration task =
                    new LockConfiguration(Instant.now(), "nightly", Duration.ofMinutes(10), Duration.ofSeconds(30));
            SimpleLock running =
                    new HoldfastLockProvider(one, "job-lock").lock(task).orElseThrow();
            var elsewhere = new DefaultLockingTaskExecutor(new HoldfastLockProvider(two, "job-lock"));
            assertThat(elsewhere.executeWithLock(() -> "ran", task).wasExecuted())
                    .isFalse();
            running.unlock();
            assertThat(elsewhere.executeWithLock(() -> "ran", task).wasExecuted())
                    .isFalse();
            assertThat(two.inspect("job-lock:nightly").remaining().orElseThrow())
                    .isBetween(Duration.ofSeconds(10), Duration.ofSeconds(31));

            LockConfiguration other =
                    new LockConfiguration(Instant.now(), "other", Duration.ofMinutes(10), Duration.ZERO);
            assertThat(elsewhere.executeWithLock(() -> "ran", other).getResult())
                    .isEqualTo("ran");
            assertThat(one.inspect("job-lock:other").isLocked()).isFalse();
        }
    }
}
