package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.spi.AcquireReply.Busy;
import io.holdfast.spi.AcquireReply.Granted;
import io.holdfast.testkit.servers.RedisServer;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.integration.redis.util.RedisLockRegistry.RedisLockType;

/**
 * Spring Integration's registry keeps a lock in a string key, {@code <registry key>:<name>}: a lock with that very name
 * is the same lock in mode {@code commands}.
 */
class SpringRegistryInteropTest {

    @ParameterizedTest
    @EnumSource(RedisLockType.class)
    void bothExcludeEachOther(RedisLockType type) throws Exception {
        try (RedisServer server = RedisServer.start();
                TestClient ours = new TestClient(server.uri() + "?mode=commands")) {
            LettuceConnectionFactory connections = new LettuceConnectionFactory(server.host(), server.port());
            connections.afterPropertiesSet();
            connections.start();
            RedisLockRegistry registry = new RedisLockRegistry(connections, "orders", 30_000);
            registry.setRedisLockType(type);
            try {
                Lock theirs = registry.obtain("1");
                assertThat(theirs.tryLock(10, TimeUnit.SECONDS)).isTrue();
                Busy busy = (Busy) ours.acquire("orders:1", ours.newHolder(), 30_000, false);
                assertThat(busy.remainingMillis()).isBetween(1L, 30_000L);
                assertThat(ours.abandon("orders:1", ours.newHolder())).isFalse();
                theirs.unlock();

                String holder = ours.newHolder();
                assertThat(ours.acquire("orders:1", holder, 30_000, false)).isInstanceOf(Granted.class);
                assertThat(theirs.tryLock()).isFalse();
                assertThat(ours.renew("orders:1", holder, 30_000)).isNotNull();
                assertThat(ours.release("orders:1", holder)).isTrue();
                assertThat(theirs.tryLock(10, TimeUnit.SECONDS)).isTrue();
                theirs.unlock();
            } finally {
                registry.destroy();
                connections.destroy();
            }
        }
    }
}
