package io.holdfast.redis;

import static io.holdfast.redis.TestClient.failure;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.redis.server.RedisKeys;
import io.holdfast.redis.server.RedisUris;
import io.holdfast.spi.AcquireReply.Granted;
import io.holdfast.spi.StoreException;
import io.holdfast.testkit.servers.RedisServer;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whatever somebody wrote into the keys from which bases are made, no base leaves the range of fencing tokens. */
class BaseRangeTest {

    private static final long MAX = (1L << 49) - 1;
    private static RedisServer server;

    private TestClient scripts;
    private TestClient commands;
    private final RedisKeys keys = RedisKeys.ofServer(RedisUris.DEFAULT_INTERNAL_PREFIX);

    @BeforeAll
    static void startServer() {
        server = RedisServer.start();
    }

    @AfterAll
    static void stopServer() {
        server.close();
    }

    @BeforeEach
    void start() {
        server.command("FLUSHALL");
        scripts = new TestClient(server.uri() + "?mode=lua");
        commands = new TestClient(server.uri() + "?mode=commands");
    }

    @AfterEach
    void stop() {
        scripts.close();
        commands.close();
    }

    private static long base(TestClient client, String name) {
        String holder = client.newHolder();
        long base = ((Granted) client.acquire(name, holder, 30_000, false)).base();
        client.release(name, holder);
        return base;
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "562949953421311",
                "562949953421312",
                "999999999999999999",
                "9007199254740993",
                "1e300",
                "nan",
                "inf",
                "-5",
                "-1e300",
                "text",
                "0x7fffffffffffffff",
                // What Lua takes for a number, and INCR does not.
                "1.5",
                "1e5",
                "0x10",
                " 7",
                "7 ",
                "+5",
                "007",
                // Above the floor, if it were a number.
                "099999999999999"
            })
    void a_last_base_out_of_range_counts_as_lost(String last) {
        long before = base(scripts, "n");
        for (TestClient client : List.of(scripts, commands, scripts)) {
            server.command("SET", keys.counter("n"), last);
            assertThat(base(client, "n")).isGreaterThan(before).isLessThanOrEqualTo(MAX);
        }
        String a = scripts.newHolder();
        String b = scripts.newHolder();
        server.command("SET", keys.counter("m"), last);
        var reply = TestClient.get(scripts.store.acquireAll(
                List.of(scripts.request("m", a, 30_000, false), scripts.request("o", b, 30_000, false))));
        assertThat(reply.granted()).hasSize(2).allMatch(granted -> granted.base() > before && granted.base() <= MAX);
    }

    @Test
    void a_counter_of_another_type_is_an_error_and_leaves_no_hold() {
        server.command("LPUSH", keys.counter("n"), "x");
        for (TestClient client : List.of(scripts, commands)) {
            StoreException error =
                    failure(client.store.acquire(client.request("n", client.newHolder(), 30_000, false)));

            assertThat(error.outcome()).isEqualTo(StoreException.Outcome.FATAL);
            assertThat(error)
                    .hasMessageContaining("\"" + keys.counter("n") + "\"")
                    .hasMessageContaining("is of type list, so no fencing token can be made");
            assertThat(server.command("EXISTS", "n")).isEqualTo(0L);
        }
        StoreException error = failure(scripts.store.acquireAll(List.of(
                scripts.request("n", scripts.newHolder(), 30_000, false),
                scripts.request("o", scripts.newHolder(), 30_000, false))));
        assertThat(error.outcome()).isEqualTo(StoreException.Outcome.FATAL);
        assertThat(error).hasMessageContaining("\"" + keys.counter("n") + "\"");
        assertThat(server.command("EXISTS", "n", "o")).isEqualTo(0L);
    }

    /** A release passes nothing on then. Each client that asks gets the error, until somebody deletes the key. */
    @Test
    void a_counter_of_another_type_leaves_the_queue_as_it_is() {
        try (TestClient other = new TestClient(server.uri() + "?mode=lua")) {
            String holder = scripts.hold("n");
            String first = other.queue("n");
            String second = scripts.queue("n");
            server.command("DEL", keys.counter("n"));
            server.command("LPUSH", keys.counter("n"), "x");

            assertThat(scripts.release("n", holder)).isTrue();
            for (String id : List.of(first, second)) {
                TestClient client = id.equals(first) ? other : scripts;
                StoreException error = failure(client.store.acquire(client.request("n", id, 30_000, true)));
                assertThat(error.outcome()).isEqualTo(StoreException.Outcome.FATAL);
                assertThat(error).hasMessageContaining("\"" + keys.counter("n") + "\"");
            }
            assertThat(server.command("ZCARD", keys.queue("n"))).isEqualTo(4L);

            server.command("DEL", keys.counter("n"));
            assertThat(other.acquire("n", first, 30_000, true)).isInstanceOf(Granted.class);
            assertThat(other.release("n", first)).isTrue();
            scripts.await("granted n " + second, 10_000);
        }
    }
}
