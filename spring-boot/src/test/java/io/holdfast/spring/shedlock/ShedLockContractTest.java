package io.holdfast.spring.shedlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.LockClient;
import io.holdfast.testkit.servers.RedisServer;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import net.javacrumbs.shedlock.core.ExtensibleLockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.test.support.AbstractExtensibleLockProviderIntegrationTest;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** ShedLock's own tests of an extensible provider, on a real server. */
class ShedLockContractTest extends AbstractExtensibleLockProviderIntegrationTest {

    private static RedisServer server;
    private static LockClient client;
    private static HoldfastLockProvider provider;

    @BeforeAll
    static void start() {
        server = RedisServer.start();
        client = LockClient.connect(server.uri());
        provider = new HoldfastLockProvider(client, "job-lock");
    }

    @AfterAll
    static void stop() {
        client.close();
        server.close();
    }

    @Override
    protected ExtensibleLockProvider getLockProvider() {
        return provider;
    }

    @Override
    protected void assertUnlocked(String lockName) {
        assertThat(client.inspect("job-lock:" + lockName).isLocked()).isFalse();
    }

    @Override
    protected void assertLocked(String lockName) {
        assertThat(client.inspect("job-lock:" + lockName).isLocked()).isTrue();
    }

    /** As in the test that it replaces, but with a time that a lease can have: 100 ms at least, there it is 50 ms. */
    @Test
    @Override
    public void shouldTimeout() {
        assertThat(provider.lock(lockConfig(LOCK_NAME1, Duration.ofMillis(150), Duration.ZERO)))
                .isPresent();
        await().untilAsserted(() -> assertUnlocked(LOCK_NAME1));
        SimpleLock next = provider.lock(lockConfig(LOCK_NAME1)).orElseThrow();
        next.unlock();
    }

    /** The same, for a time of 2 ms. */
    @Test
    @Override
    public void shouldNotBeAbleToExtendExpiredLock() {
        SimpleLock lock = provider.lock(lockConfig(LOCK_NAME1, Duration.ofMillis(150), Duration.ZERO))
                .orElseThrow();
        await().untilAsserted(() -> assertUnlocked(LOCK_NAME1));
        assertThat(lock.extend(Duration.ofSeconds(10), Duration.ZERO)).isEmpty();
        assertUnlocked(LOCK_NAME1);
    }

    @Test
    @Tag("deep") // quick: LockClientTest of redis
    @Override
    public void fuzzTestShouldPass() throws ExecutionException, InterruptedException {
        super.fuzzTestShouldPass();
    }

    @Test
    void a_time_that_no_lease_can_have_is_refused() {
        assertThatThrownBy(() -> provider.lock(lockConfig(LOCK_NAME1, Duration.ofMillis(50), Duration.ZERO)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("at least 100 ms");
    }
}
