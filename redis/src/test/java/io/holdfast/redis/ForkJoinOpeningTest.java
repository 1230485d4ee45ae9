package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.testkit.servers.RedisServer;
import java.util.List;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A client that lives on the only thread that a pool may have: the pool can make no other one for a thread that waits. */
@Timeout(60)
class ForkJoinOpeningTest {

    private static List<RedisServer> servers;

    @BeforeAll
    static void start() {
        servers = Stream.generate(RedisServer::start).limit(3).toList();
    }

    @AfterAll
    static void stop() {
        servers.forEach(RedisServer::close);
    }

    private static long useInPoolAtItsLimit(String uri) throws Exception {
        ForkJoinPool pool = new ForkJoinPool(
                1, ForkJoinPool.defaultForkJoinWorkerThreadFactory, null, false, 1, 1, 1, null, 60, TimeUnit.SECONDS);
        try {
            ForkJoinTask<Long> work = pool.submit(() -> {
                try (LockClient client = LockClient.connect(uri);
                        Lease lease = client.acquire("pool")) {
                    return lease.fencingToken();
                }
            });
            return work.get(50, TimeUnit.SECONDS);
        } finally {
            pool.shutdown();
        }
    }

    @Test
    void a_pool_at_its_limit_opens_one_server() throws Exception {
        assertThat(useInPoolAtItsLimit(servers.get(0).uri())).isPositive();
    }

    @Test
    void a_pool_at_its_limit_opens_a_quorum() throws Exception {
        String hosts = servers.stream()
                .map(server -> server.host() + ":" + server.port())
                .collect(Collectors.joining(","));
        assertThat(useInPoolAtItsLimit("redlock://" + hosts + "?bootstrap=true"))
                .isPositive();
    }
}
