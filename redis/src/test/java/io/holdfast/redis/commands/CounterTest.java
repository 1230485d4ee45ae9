package io.holdfast.redis.commands;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.redis.TestClient;
import io.holdfast.redis.connect.DedicatedConnections;
import io.holdfast.redis.connect.ServerConnections;
import io.holdfast.redis.lua.LuaScript;
import io.holdfast.redis.lua.ScriptHead;
import io.holdfast.redis.messages.Publishing;
import io.holdfast.redis.server.RedisErrors;
import io.holdfast.redis.server.RedisKeys;
import io.holdfast.redis.server.RedisSettings;
import io.holdfast.redis.server.RedisUris;
import io.holdfast.spi.TimeSource;
import io.holdfast.testkit.servers.Installation;
import io.holdfast.testkit.servers.RedisServer;
import io.holdfast.testkit.servers.RespClient;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The bases of tokens, by the scripts themselves and by mode commands on one counter, under clocks that a real server
 * does not have: the scripts read the time from a key of the test's.
 */
@ParameterizedClass(name = "{0}")
@MethodSource("io.holdfast.testkit.servers.RedisServer#available")
class CounterTest {

    private final Installation installation;

    private static final String CLOCK = "clock";
    private static final long SECOND = 1_000_000;
    private static final RedisKeys KEYS = RedisKeys.ofServer("holdfast");
    private static final String COUNTER = KEYS.counter("n");

    private final long seed = Long.getLong("holdfast.seed", System.nanoTime());
    private final SplittableRandom random = new SplittableRandom(seed);
    private final List<Master> masters = new ArrayList<>();

    CounterTest(Installation installation) {
        this.installation = installation;
    }

    /** Who asks for a base. */
    private enum Way {
        /** The short path of the script. */
        SHORT,
        /** The whole script. */
        WHOLE,
        COMMANDS
    }

    /** A server with a clock of its own. */
    private static final class Master implements AutoCloseable {

        private final RedisServer server;
        private final RespClient client;
        private final ServerConnections connections;
        private final DedicatedConnections dedicated;
        private final CommandsTokens tokens;
        private final String digest;

        /** Microseconds since 1970. */
        private long now = 1_790_000_000 * SECOND;

        private int holders;

        /** What others do while mode commands makes a base: after it has read the clock, and before each EXEC. */
        private Runnable meanwhile = () -> {};

        Master(Installation installation) throws Exception {
            server = RedisServer.builder().installation(installation).start();
            client = RespClient.connect(server.host(), server.port(), Duration.ofSeconds(10));
            RedisSettings settings = RedisUris.parse(URI.create(server.uri()));
            RedisErrors errors = new RedisErrors(settings.describe(), settings.timeout());
            connections = new ServerConnections(settings, TimeSource.system());
            connections.connect(() -> {}).toCompletableFuture().get(10, TimeUnit.SECONDS);
            dedicated = new DedicatedConnections(
                    key -> connections.dedicated(key).thenApply(this::hooked),
                    connections::server,
                    TimeSource.system(),
                    errors);
            CompareProbe probe = new CompareProbe(connections, dedicated, errors, KEYS.probe("counter-test"));
            CompareWays ways = new CompareWays(
                    new NativeWays(connections),
                    dedicated,
                    TestClient.get(probe.run()).choice());
            tokens = new CommandsTokens(connections, KEYS, ways, errors, TimeSource.system(), commands -> {
                List<String> read = time();
                meanwhile.run();
                return CompletableFuture.completedFuture(read);
            });
            String text = LuaScript.ACQUIRE.text(new ScriptHead(Publishing.PLAIN, KEYS.clientChannels(), false), true);
            digest = String.valueOf(client.call(
                    "SCRIPT", "LOAD", text.replace("redis.call('TIME')", "redis.call('HMGET', 'clock', 's', 'u')")));
        }

        /** A connection that does something else before each EXEC. */
        @SuppressWarnings("unchecked")
        private StatefulRedisConnection<String, String> hooked(StatefulRedisConnection<String, String> made) {
            Object commands = proxy(RedisAsyncCommands.class, (method, args) -> {
                if (method.getName().equals("exec")) {
                    meanwhile.run();
                }
                return method.invoke(made.async(), args);
            });
            return (StatefulRedisConnection<String, String>) proxy(
                    StatefulRedisConnection.class,
                    (method, args) -> method.getName().equals("async") ? commands : method.invoke(made, args));
        }

        /** Answers a call of a method. */
        private interface Answer {
            @Nullable
            Object of(Method method, Object @Nullable [] args) throws Exception;
        }

        private static Object proxy(Class<?> type, Answer answer) {
            return Proxy.newProxyInstance(
                    CounterTest.class.getClassLoader(),
                    new Class<?>[] {type},
                    (proxy, method, args) -> answer.of(method, args));
        }

        private List<String> time() {
            return List.of(Long.toString(now / SECOND), Long.toString(now % SECOND));
        }

        /** The base of a hold, which ends at once. */
        long base(Way way) throws IOException {
            if (way == Way.COMMANDS) {
                return TestClient.get(tokens.next("n"));
            }
            String holder = "hf-test:" + ++holders;
            client.call("HSET", CLOCK, "s", time().get(0), "u", time().get(1));
            String[] keys = KEYS.of("n");
            List<String> command = new ArrayList<>(
                    List.of("EVALSHA", digest, "3", keys[0], keys[1], keys[2], holder, "30000", "0", ""));
            if (way == Way.WHOLE) {
                command.add("c");
            }
            List<?> reply = (List<?>) client.call(command.toArray(new String[0]));
            client.call("DEL", "n");
            return (Long) reply.get(2);
        }

        private long uncheckedBase(Way way) {
            try {
                return base(way);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        @Override
        public void close() {
            dedicated.close();
            connections.close();
            server.close();
        }
    }

    private Master master() throws Exception {
        Master made = new Master(installation);
        masters.add(made);
        return made;
    }

    @BeforeEach
    void tell() {
        System.out.println("seed " + seed);
    }

    @AfterEach
    void stop() {
        masters.forEach(Master::close);
    }

    private Way any() {
        return Way.values()[random.nextInt(Way.values().length)];
    }

    @Test
    void a_fleet_of_both_modes_sees_growing_bases_whatever_the_clock_does() throws Exception {
        Master master = master();
        long last = 0;
        for (int i = 0; i < 3_000; i++) {
            master.now += switch (random.nextInt(10)) {
                case 0 -> random.nextLong(-3_600 * SECOND, 3_600 * SECOND);
                case 1 -> random.nextLong(-20_000, 20_000);
                case 2 -> 0;
                default -> random.nextLong(3_000);
            };
            long base = master.base(any());
            assertThat(base).as("step %s", i).isGreaterThan(last).isLessThan(1L << 49);
            last = base;
        }
        assertThat((Long) master.client.call("PTTL", COUNTER)).isPositive();
    }

    /**
     * The clock is not behind by more than the outage: then a lost or an older counter continues above all earlier
     * bases.
     */
    @Test
    void a_counter_that_is_lost_or_older_goes_on_above_all_bases() throws Exception {
        Master master = master();
        long largest = 0;
        long latest = master.now;
        Object older = null;
        for (int i = 0; i < 3_000; i++) {
            master.now += random.nextLong(8, 3_000);
            latest = Math.max(latest, master.now);
            switch (random.nextInt(20)) {
                case 0 -> master.client.call("DEL", COUNTER);
                case 1 -> older = master.client.call("GET", COUNTER);
                case 2 -> {
                    if (older != null) {
                        // A replica takes over: that takes longer than a tick.
                        master.now += 15_625;
                        master.client.call("SET", COUNTER, String.valueOf(older), "PX", "86400000");
                    }
                }
                case 3 -> {
                    long outage = random.nextLong(SECOND);
                    master.client.call("DEL", COUNTER);
                    master.now = latest + outage - random.nextLong(outage + 1) + 8;
                }
                default -> {}
            }
            long base = master.base(any());
            assertThat(base).as("step %s", i).isGreaterThan(largest);
            largest = base;
        }
    }

    @Test
    void a_counter_that_is_deleted_between_two_holds_does_not_stand_still() throws Exception {
        Master master = master();
        long last = 0;
        for (int i = 0; i < 3_000; i++) {
            master.now += 40;
            master.client.call("DEL", COUNTER);
            long base = master.base(any());
            assertThat(base).as("step %s", i).isGreaterThan(last);
            last = base;
        }
    }

    /** Two masters that serve at once have no common order. Their bases still differ, but by chance. */
    @Test
    void two_masters_at_once_give_different_bases() throws Exception {
        Master one = master();
        Master other = master();
        one.base(Way.SHORT);
        other.client.call("SET", COUNTER, String.valueOf(one.client.call("GET", COUNTER)));
        Set<Long> bases = new HashSet<>();
        int holds = 1_000;
        for (int i = 0; i < holds; i++) {
            Master next = random.nextBoolean() ? one : other;
            one.now += 50_000 + random.nextLong(1_000);
            other.now = one.now + random.nextLong(-1_000, 1_000);
            bases.add(next.base(any()));
        }
        assertThat(bases).hasSizeGreaterThan(holds - 10);
    }

    /** Beyond a tick and the difference of the clocks, the order of two masters is that of time. */
    @Test
    void two_masters_at_once_give_ordered_bases_beyond_a_tick_and_the_difference_of_their_clocks() throws Exception {
        Master one = master();
        Master other = master();
        long real = one.now;
        long difference = random.nextLong(SECOND / 10);
        long last = 0;
        for (int i = 0; i < 500; i++) {
            real += 15_625 + difference;
            one.now = real + difference;
            other.now = real;
            Master next = random.nextBoolean() ? one : other;
            for (int holds = random.nextInt(1, 20); holds > 0; holds--) {
                long base = next.base(any());
                assertThat(base).as("step %s", i).isGreaterThan(last);
                last = base;
            }
        }
    }

    /** A counter that expired while the clock is behind it would go back. */
    @ParameterizedTest
    @EnumSource(Way.class)
    void each_way_keeps_the_counter_for_a_day(Way way) throws Exception {
        Master master = master();
        List<Runnable> changes = List.of(
                () -> {},
                () -> master.now += 7_200 * SECOND, // so it is raised
                () -> master.now -= 3_600 * SECOND); // so it counts
        for (Runnable change : changes) {
            change.run();
            long before = master.client.call("GET", COUNTER) instanceof String text ? Long.parseLong(text) : 0;
            master.client.call("PEXPIRE", COUNTER, "60000");
            assertThat(master.base(way)).isGreaterThan(before);
            assertThat((Long) master.client.call("PTTL", COUNTER)).isGreaterThan(86_000_000);
        }
    }

    /** Clients of both modes at once: a script runs between each two steps of a client in mode {@code commands}. */
    @Test
    void a_fleet_of_both_modes_at_once_sees_growing_bases() throws Exception {
        Master master = master();
        Set<Long> bases = new HashSet<>();
        AtomicLong last = new AtomicLong();
        List<Long> others = new ArrayList<>();
        int scripts = 0;
        for (int i = 0; i < 1_000; i++) {
            master.now += random.nextInt(3) == 0 ? random.nextLong(40_000) : random.nextLong(100);
            others.clear();
            master.meanwhile = () -> {
                if (others.size() < 5 && random.nextInt(3) > 0) {
                    master.now += random.nextInt(4) == 0 ? 15_625 : 0;
                    long base = master.uncheckedBase(random.nextBoolean() ? Way.SHORT : Way.WHOLE);
                    // Those that ended before this one began.
                    assertThat(base).isGreaterThan(others.isEmpty() ? last.get() : others.get(others.size() - 1));
                    others.add(base);
                }
            };
            long base = master.base(Way.COMMANDS);
            master.meanwhile = () -> {};
            assertThat(base).as("step %s", i).isGreaterThan(last.get());
            assertThat(bases.add(base)).isTrue();
            assertThat(bases.addAll(others)).isEqualTo(!others.isEmpty());
            scripts += others.size();
            last.set(Math.max(base, others.isEmpty() ? 0 : others.get(others.size() - 1)));
        }
        assertThat(bases).hasSize(1_000 + scripts);
    }

    @Test
    void holds_of_one_tick_count_on() throws Exception {
        Master master = master();
        master.now = 1_790_000_000 * SECOND + 15_624;
        long first = master.base(Way.SHORT);
        assertThat(first % 4096).isEqualTo(2047);
        assertThat(master.base(Way.WHOLE)).isEqualTo(first + 1);
        assertThat(master.base(Way.COMMANDS)).isEqualTo(first + 2);
        master.now++;
        assertThat(master.base(Way.COMMANDS)).isEqualTo((first / 4096 + 1) * 4096);
    }

    /** Clients of mode commands that all ask at once, again and again: one raises the counter, the others count. */
    @ParameterizedTest
    @ValueSource(ints = {8, 64})
    void raises_at_once_give_each_a_base_of_its_own(int clients) throws Exception {
        Master master = master();
        Set<Long> bases = new HashSet<>();
        int rounds = 50;
        for (int round = 0; round < rounds; round++) {
            master.now += 20_000;
            List<CompletableFuture<Long>> asked = new ArrayList<>();
            for (int i = 0; i < clients; i++) {
                asked.add(master.tokens.next("n").toCompletableFuture());
            }
            for (CompletableFuture<Long> base : asked) {
                assertThat(bases.add(base.get(10, TimeUnit.SECONDS))).isTrue();
            }
        }
        assertThat(bases).hasSize(rounds * clients);
    }
}
