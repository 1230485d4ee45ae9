package io.holdfast.samples.sidebyside;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.LeaseLostException;
import io.holdfast.LockClient;
import io.holdfast.LockStoreException;
import io.holdfast.spring.integration.HoldfastLockRegistry;
import io.holdfast.testkit.servers.RedisServer;
import java.time.Duration;
import java.util.ConcurrentModificationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.integration.redis.util.RedisLockRegistry.RedisLockType;

/** Spring Integration's registry and ours, on the same keys. */
class RedisLockRegistryTest {

    @ParameterizedTest
    @EnumSource(RedisLockType.class)
    void both_kinds_exclude_each_other_and_each_gets_the_lock_after_the_other(RedisLockType type) throws Exception {
        try (RedisServer server = RedisServer.start();
                Connections connections = Connections.to(server);
                LockClient client = LockClient.connect(server.uri() + "?mode=commands&namePrefix=")) {
            RedisLockRegistry old = new RedisLockRegistry(connections.factory(), "shop", 30_000);
            old.setRedisLockType(type);
            try {
                Lock theirs = old.obtain("lamp");
                Lock ours = new HoldfastLockRegistry(client, "shop").obtain("lamp");

                assertThat(theirs.tryLock()).isTrue();
                assertThat(elsewhere(ours)).isFalse();
                theirs.unlock();

                assertThat(ours.tryLock(20, TimeUnit.SECONDS)).isTrue();
                assertThat(elsewhere(theirs)).isFalse();
                ours.unlock();

                assertThat(theirs.tryLock(20, TimeUnit.SECONDS)).isTrue();
                theirs.unlock();
            } finally {
                old.destroy();
            }
        }
    }

    /** The table of docs/coming-from.md. */
    @Test
    void the_exceptions_of_both_kinds() throws Exception {
        try (RedisServer server = RedisServer.start();
                Connections connections = Connections.to(server);
                LockClient client = LockClient.builder()
                        .uri(server.uri() + "?mode=commands&namePrefix=")
                        .leaseTime(Duration.ofMillis(600))
                        .build()) {
            RedisLockRegistry old = new RedisLockRegistry(connections.factory(), "old", 30_000);
            try {
                Lock theirs = old.obtain("lamp");
                Lock ours = new HoldfastLockRegistry(client, "new").obtain("lamp");

                assertThatThrownBy(theirs::unlock).isExactlyInstanceOf(IllegalStateException.class);
                assertThatThrownBy(ours::unlock).isInstanceOf(IllegalMonitorStateException.class);

                theirs.lock();
                ours.lock();
                server.command("DEL", "old:lamp", "new:lamp");
                assertThatThrownBy(theirs::unlock).isInstanceOf(ConcurrentModificationException.class);
                assertThatThrownBy(ours::unlock).isInstanceOf(LeaseLostException.class);

                theirs.lock();
                ours.lock();
                server.command("DEL", "old:lamp", "new:lamp");
                await().until(() -> client.localLocks().isEmpty());
                theirs.lock();
                assertThat(server.command("EXISTS", "old:lamp")).isEqualTo(1L);
                assertThatThrownBy(ours::lock).isInstanceOf(LeaseLostException.class);

                server.kill();
                assertThatThrownBy(theirs::lock).isInstanceOf(CannotAcquireLockException.class);
                assertThatThrownBy(() -> ours.tryLock(1, TimeUnit.MINUTES)).isInstanceOf(LockStoreException.class);
            } finally {
                old.destroy();
            }
        }
    }

    private static boolean elsewhere(Lock lock) throws Exception {
        return CompletableFuture.supplyAsync(lock::tryLock).get(20, TimeUnit.SECONDS);
    }
}
