package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LeaseLostException;
import io.holdfast.LockClient;
import io.holdfast.StoreOnce;
import io.holdfast.testkit.servers.RedisServer;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Work that is done once, end to end on a server. */
@Timeout(60)
class StoreOnceRedisTest {

    private final AtomicInteger done = new AtomicInteger();

    private String work() {
        return "receipt " + done.incrementAndGet() + " 7 €";
    }

    @Test
    void the_result_has_a_key_that_ends_by_itself() throws Exception {
        try (RedisServer server = RedisServer.start();
                LockClient one = LockClient.connect(server.uri() + "?namePrefix=");
                LockClient two = LockClient.connect(server.uri() + "?namePrefix=")) {
            StoreOnce once = one.once().keepFor(Duration.ofHours(1));
            assertThat(once.run("payment:1", "7 €", lease -> work())).isEqualTo("receipt 1 7 €");
            assertThat(two.once().run("payment:1", "7 €", lease -> work())).isEqualTo("receipt 1 7 €");
            assertThat((Long) server.command("PTTL", "holdfast:r:{payment:1}")).isBetween(3_000_000L, 3_600_000L);
            assertThat(server.command("EXISTS", "payment:1")).as("the lock").isEqualTo(0L);
        }
    }

    /** Another program deletes the lock during the work: what the posts call a lock that has expired. */
    @Test
    void a_lock_that_is_gone_at_the_end_of_the_work_leaves_no_record() throws Exception {
        try (RedisServer server = RedisServer.start();
                LockClient one = LockClient.connect(server.uri() + "?namePrefix=");
                LockClient two = LockClient.connect(server.uri() + "?namePrefix=")) {
            assertThatThrownBy(() -> one.once().run("payment:1", "", lease -> {
                        server.command("DEL", "payment:1");
                        return work();
                    }))
                    .isInstanceOf(LeaseLostException.class)
                    .hasMessageContaining("the work may be done again");
            assertThat(server.command("EXISTS", "holdfast:r:{payment:1}")).isEqualTo(0L);
            assertThat(two.once().run("payment:1", "", lease -> work())).isEqualTo("receipt 2 7 €");
        }
    }

    /** The restart takes the script cache and the connections, but not the data: there is none before the work. */
    @Test
    void a_restart_of_the_server_during_the_work_is_a_loss() throws Exception {
        try (RedisServer server = RedisServer.start();
                LockClient one = LockClient.connect(server.uri() + "?namePrefix=")) {
            assertThatThrownBy(() -> one.once().run("payment:1", "", lease -> {
                        server.kill();
                        server.restart();
                        return work();
                    }))
                    .isInstanceOf(LeaseLostException.class);
            assertThat(one.once().run("payment:1", "", lease -> work())).isEqualTo("receipt 2 7 €");
        }
    }
}
