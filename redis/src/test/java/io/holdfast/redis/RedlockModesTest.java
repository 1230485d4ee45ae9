package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.TimeSource;
import io.holdfast.testkit.RedisServer;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A quorum of which one server runs no scripts. */
class RedlockModesTest {

    private final List<RedisServer> servers = new ArrayList<>();

    @BeforeEach
    void start() {
        servers.add(RedisServer.start());
        servers.add(RedisServer.builder()
                .args("--rename-command", "EVAL", "", "--rename-command", "EVALSHA", "")
                .start());
        servers.add(RedisServer.start());
    }

    @AfterEach
    void stop() {
        servers.forEach(RedisServer::close);
    }

    private LockClient client() {
        String hosts = servers.stream().map(RedisServer::address).collect(Collectors.joining(","));
        return LockClient.builder()
                .uri("redlock://" + hosts + "?bootstrap=true&memberTimeout=2s")
                .leaseTime(Duration.ofSeconds(20))
                .build();
    }

    @Test
    void a_server_without_scripts_votes_beside_those_that_run_them() throws InterruptedException {
        try (LockClient client = client();
                LockClient other = client()) {
            // Of three, so that each majority needs the one without.
            servers.get(2).pause();
            long first;
            try (Lease lease = client.acquire("mixed")) {
                first = lease.fencingToken();
                assertThat(other.tryAcquire("mixed")).isEmpty();
            }
            try (Lease lease = other.acquire("mixed", LockOptions.defaults().waitAtMost(Duration.ofSeconds(10)))) {
                assertThat(lease.fencingToken()).isGreaterThan(first);
            }
            assertThat(servers.get(1).commandCounts()).containsKeys("watch", "exec");
            assertThat(servers.get(0).commandCounts()).containsKey("evalsha").doesNotContainKey("watch");
        } finally {
            servers.get(2).resume();
        }
    }

    @Test
    void mode_lua_insists_on_scripts() {
        SharedThreads threads = new SharedThreads();
        RedisSettings settings = RedisUris.parse(URI.create(servers.get(1).uri() + "?mode=lua"));
        assertThatThrownBy(() -> MemberOpening.open(settings, threads, new StoreContext("hf-l", TimeSource.system())))
                .isInstanceOf(StoreException.class)
                .hasMessageContaining("unknown command");
    }
}
