package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.memory.MemoryQuorumNode;
import io.holdfast.spi.QuorumMember;
import io.holdfast.spi.QuorumMember.Extension;
import io.holdfast.spi.QuorumMember.Take;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.TimeSource;
import io.holdfast.testkit.RedisServer;
import io.holdfast.testkit.RespClient;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * Members with scripts and members without do the same, on the same keys of one server, and the same as the member in
 * memory, which the simulation and the tests of the quorum use.
 */
class QuorumMemberModelTest {

    private static final int CLIENTS = 3;
    private static RedisServer server;

    private final List<QuorumMember> open = new ArrayList<>();

    @BeforeAll
    static void start() {
        server = RedisServer.start();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @AfterEach
    void close() {
        open.forEach(QuorumMember::close);
    }

    private QuorumMember connect(String clientId, RedisMode mode) {
        RedisSettings settings =
                RedisUris.parse(URI.create(server.uri() + "?mode=" + mode.name().toLowerCase(Locale.ROOT)));
        SharedThreads threads = new SharedThreads();
        QuorumMember member = MemberOpening.open(settings, threads, new StoreContext(clientId, TimeSource.system()));
        assertThat(member).isInstanceOf(mode == RedisMode.LUA ? RedisQuorumMember.class : CommandsQuorumMember.class);
        open.add(member);
        return member;
    }

    private static <T> T get(CompletionStage<T> stage) {
        return stage.toCompletableFuture().orTimeout(10, TimeUnit.SECONDS).join();
    }

    /** A client as the model has it, and at the server with scripts and without. */
    private record Client(QuorumMember model, QuorumMember lua, QuorumMember commands) {}

    @Test
    void random_sequences_have_the_same_answers() {
        MemoryQuorumNode node = new MemoryQuorumNode("model", TimeSource.system());
        List<Client> clients = new ArrayList<>();
        for (int i = 0; i < CLIENTS; i++) {
            String id = "hf-c" + i;
            clients.add(new Client(
                    node.connect(new StoreContext(id, TimeSource.system())),
                    connect(id, RedisMode.LUA),
                    connect(id, RedisMode.COMMANDS)));
        }
        get(clients.get(0).model.admit(0));
        get(clients.get(0).commands.admit(0));
        for (int round = 0; round < 30; round++) {
            play(round, clients);
        }
    }

    private static void play(long seed, List<Client> clients) {
        SplittableRandom random = new SplittableRandom(seed);
        String name = "model:" + seed;
        List<String> done = new ArrayList<>();
        for (int step = 0; step < 25; step++) {
            int number = random.nextInt(clients.size());
            Client client = clients.get(number);
            QuorumMember real = random.nextBoolean() ? client.lua : client.commands;
            String id = "hf-c" + number + ":" + random.nextInt(2) + "~1";
            long lease = 20_000L + random.nextInt(60_000);
            long token = 1L + random.nextInt(12);
            long sequence = random.nextInt(4);
            boolean flag = random.nextBoolean();
            boolean leaves = random.nextInt(6) == 0;
            Function<QuorumMember, Object> command = switch (random.nextInt(7)) {
                case 0, 1, 2 ->
                    member -> {
                        var vote = get(member.take(new Take(name, id, lease, sequence, token, flag ? 5_000 : 0)));
                        return List.of(vote.holds(), vote.holder(), vote.accepted(), vote.register(), vote.waiting());
                    };
                case 3 ->
                    member -> get(member.extend(new Extension(name, id, lease, sequence, flag)))
                            .found();
                case 4 ->
                    member -> {
                        var released = get(member.release(name, id, flag));
                        return List.of(released.wasHeld(), released.waiting());
                    };
                case 5 ->
                    member -> {
                        var written = get(member.commit(name, id, token));
                        return List.of(written.accepted(), written.register());
                    };
                default ->
                    member -> {
                        if (leaves) {
                            return get(member.leave(name));
                        }
                        var seen = get(member.inspect(name));
                        return List.of(seen.holder(), seen.register(), seen.waiting());
                    };
            };
            Object expected = command.apply(client.model);
            done.add(step + " " + real.getClass().getSimpleName() + " " + id + " " + expected);
            assertThat(command.apply(real)).as("seed %s: %s", seed, done).isEqualTo(expected);
        }
    }

    @Test
    void each_tells_the_other_of_releases_and_of_waiters() {
        QuorumMember lua = connect("hf-l", RedisMode.LUA);
        QuorumMember commands = connect("hf-k", RedisMode.COMMANDS);
        for (boolean luaHolds : List.of(true, false)) {
            QuorumMember holder = luaHolds ? lua : commands;
            QuorumMember waiter = luaHolds ? commands : lua;
            String held = (luaHolds ? "hf-l" : "hf-k") + ":1~1";
            String waits = (luaHolds ? "hf-k" : "hf-l") + ":1~1";
            List<String> heard = new CopyOnWriteArrayList<>();
            holder.listen(new Hearing("holder", heard));
            waiter.listen(new Hearing("waiter", heard));
            get(holder.take(new Take("told", held, 20_000, 0, 1, 0)));
            get(waiter.take(new Take("told", waits, 20_000, 0, 1, 5_000)));
            await().until(() -> heard.contains("holder: told, somebody waits behind " + held));
            get(holder.release("told", held, true));
            await().until(() -> heard.contains("waiter: told is released, rank 0"));
        }
    }

    @Test
    void many_who_take_at_once_without_scripts_get_one_holder() {
        List<QuorumMember> members = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            members.add(connect("hf-m" + i, i == 0 ? RedisMode.LUA : RedisMode.COMMANDS));
        }
        for (int round = 0; round < 20; round++) {
            String name = "once:" + round;
            List<CompletionStage<QuorumMember.Vote>> votes = new ArrayList<>();
            for (int i = 0; i < 32; i++) {
                votes.add(members.get(i % 4)
                        .take(new Take(name, "hf-m" + i % 4 + ":" + i + "~1", 20_000, 0, 100 + i, 5_000)));
            }
            assertThat(votes.stream()
                            .map(QuorumMemberModelTest::get)
                            .filter(QuorumMember.Vote::holds)
                            .count())
                    .isEqualTo(1);
        }
    }

    @Test
    void what_a_client_asks_for_is_executed_in_that_order() {
        QuorumMember commands = connect("hf-o", RedisMode.COMMANDS);
        for (int round = 0; round < 20; round++) {
            String name = "order:" + round;
            String id = "hf-o:" + round + "~1";
            var taken = commands.take(new Take(name, id, 20_000, 0, 1, 0));
            var extended = commands.extend(new Extension(name, id, 60_000, 0, false));
            var seen = commands.inspect(name);
            var released = commands.release(name, id, false);
            var after = commands.inspect(name);
            assertThat(get(taken).holds()).isTrue();
            assertThat(get(extended).found()).isEqualTo(QuorumMember.Found.HELD);
            assertThat(get(seen).remainingMillis()).isGreaterThan(20_000);
            assertThat(get(released).wasHeld()).isTrue();
            assertThat(get(after).holder()).isEmpty();
        }
    }

    /** What is held is kept: also a hold whose length was set, and those that are renewed by the same command. */
    @Test
    void a_full_server_extends_all_of_a_batch() {
        QuorumMember lua = connect("hf-b", RedisMode.LUA);
        String id = "hf-b:1~1";
        for (String name : List.of("full:set", "full:plain", "full:first")) {
            get(lua.take(new Take(name, id, 20_000, 0, 1, 0)));
        }
        get(lua.extend(new Extension("full:set", id, 20_000, 1, true)));
        server.command("CONFIG", "SET", "maxmemory", "1");
        try {
            assertThat(found(
                            lua,
                            new Extension("full:set", id, 60_000, 1, false),
                            new Extension("full:plain", id, 60_000, 0, false)))
                    .containsOnly(QuorumMember.Found.HELD);
            // The number of a setting that was not executed is used up in any case.
            assertThat(found(
                            lua,
                            new Extension("full:first", id, 30_000, 1, false),
                            new Extension("full:first", id, 5_000, 1, true)))
                    .containsOnly(QuorumMember.Found.HELD);
        } finally {
            server.command("CONFIG", "SET", "maxmemory", "0");
        }
        assertThat(get(lua.inspect("full:set")).remainingMillis()).isGreaterThan(50_000);
        assertThat(get(lua.inspect("full:plain")).remainingMillis()).isGreaterThan(50_000);
        assertThat(get(lua.inspect("full:first")).remainingMillis()).isGreaterThan(20_000);
    }

    /** Kept for as long as the hold: else an older setting that comes late would be executed. */
    @Test
    void the_number_of_settings_lives_as_long_as_the_hold() {
        QuorumMember lua = connect("hf-s", RedisMode.LUA);
        String id = "hf-s:1~1";
        get(lua.take(new Take("kept", id, 20_000, 0, 1, 0)));
        get(lua.extend(new Extension("kept", id, 20_000, 1, true)));
        assertThat(found(lua, new Extension("kept", id, 60_000, 1, false))).containsOnly(QuorumMember.Found.HELD);
        assertThat((Long) server.command("PTTL", "holdfast:{kept}:x:kept")).isGreaterThan(50_000);
    }

    private static List<QuorumMember.Found> found(QuorumMember member, Extension... extensions) {
        return member.extendAll(List.of(extensions)).stream()
                .map(QuorumMemberModelTest::get)
                .map(QuorumMember.Extended::found)
                .toList();
    }

    /** Transactions below a member, on connections of their own. */
    private static final class OwnTransactions implements AutoCloseable {

        final MemberTransactions transactions;
        private final SharedThreads threads = new SharedThreads();
        private final ServerConnections connections;
        private final DedicatedConnections dedicated;

        OwnTransactions() throws Exception {
            RedisSettings settings = RedisUris.parse(URI.create(server.uri()));
            connections = new ServerConnections(settings.with(threads.join()), TimeSource.system());
            get(connections.connect(() -> {}));
            RedisErrors errors = new RedisErrors(settings.describe(), settings.timeout());
            dedicated = new DedicatedConnections(
                    connections::dedicated, connections::server, TimeSource.system(), settings.timeout(), errors);
            transactions = new MemberTransactions(dedicated, errors);
        }

        @Override
        public void close() {
            dedicated.close();
            connections.close();
            threads.leave();
        }
    }

    @Test
    void an_answer_without_writes_is_of_one_moment() throws Exception {
        List<String> read = new CopyOnWriteArrayList<>();
        try (OwnTransactions own = new OwnTransactions();
                RespClient other = RespClient.connect(server.host(), server.port(), Duration.ofSeconds(5))) {
            String holder = get(own.transactions.run(new RedisKeys("holdfast").ofMember("moment"), view -> {
                read.add(view.holder());
                if (read.size() == 1) {
                    take(other, "moment");
                }
                return new MemberTransactions.Step<>(view.holder(), List.of());
            }));
            assertThat(holder).isEqualTo("somebody");
            assertThat(read).containsExactly("", "somebody");
        }
    }

    /** Another client's lock with scripts, say, which ends between the question for its value and that for its type. */
    @Test
    void a_key_that_changes_its_type_just_then_is_read_again() throws Exception {
        server.command("HSET", "type", "somebody", "1");
        String[] keys = new RedisKeys("holdfast").ofMember("type");
        List<String> read = new CopyOnWriteArrayList<>();
        try (OwnTransactions own = new OwnTransactions()) {
            String holder = get(own.transactions.run(
                    keys,
                    commands -> MemberTransactions.read(deletingBeforeType(commands, "type"), keys),
                    (MemberView view) -> {
                        read.add(view.holder());
                        return new MemberTransactions.Step<>(view.holder(), List.of());
                    }));
            assertThat(holder).isEmpty();
            assertThat(read).containsExactly("foreign hash", "");
        }
    }

    /** On the same connection: what it watches it may have changed itself. */
    @SuppressWarnings("unchecked")
    private static RedisClusterAsyncCommands<String, String> deletingBeforeType(
            RedisClusterAsyncCommands<String, String> commands, String key) {
        return (RedisClusterAsyncCommands<String, String>) Proxy.newProxyInstance(
                QuorumMemberModelTest.class.getClassLoader(),
                new Class<?>[] {RedisClusterAsyncCommands.class},
                (proxy, method, arguments) -> {
                    if (method.getName().equals("type")) {
                        var unused = commands.del(key);
                    }
                    return method.invoke(commands, arguments);
                });
    }

    /** Its first waiting has ended unnoticed: it was given up at the client, say, while this server could not be reached. */
    @Test
    void a_client_that_waits_again_is_told_of_the_next_release() throws Exception {
        QuorumMember lua = connect("hf-r", RedisMode.LUA);
        for (RedisMode mode : List.of(RedisMode.LUA, RedisMode.COMMANDS)) {
            String name = "again:" + mode;
            QuorumMember waiter = connect("hf-w" + mode, mode);
            get(lua.take(new Take(name, "hf-r:1~1", 20_000, 0, 1, 0)));
            get(waiter.take(new Take(name, "hf-w" + mode + ":1~1", 20_000, 0, 1, 20)));
            // Somebody else keeps the list of those who wait.
            get(lua.take(new Take(name, "hf-x:1~1", 20_000, 0, 1, 5_000)));
            Thread.sleep(100);
            get(waiter.take(new Take(name, "hf-w" + mode + ":2~1", 20_000, 0, 1, 5_000)));
            assertThat(get(lua.inspect(name)).waiting()).as(mode.toString()).isEqualTo(2);
        }
    }

    @Test
    void a_server_that_refuses_multi_writes_nothing() throws Exception {
        try (OwnTransactions own = new OwnTransactions();
                RespClient other = RespClient.connect(server.host(), server.port(), Duration.ofSeconds(5))) {
            var written = own.transactions.run(new RedisKeys("holdfast").ofMember("refused"), view -> {
                // Its rights change after it was read.
                take(other, "refused");
                server.command("ACL", "SETUSER", "default", "-multi");
                return new MemberTransactions.Step<>("", List.of(commands -> commands.del("refused")));
            });
            assertThatThrownBy(() -> get(written)).hasMessageContaining("multi");
            assertThat(other.call("GET", "refused")).isEqualTo("somebody");
        } finally {
            server.command("ACL", "SETUSER", "default", "+multi");
        }
    }

    private static void take(RespClient client, String name) {
        try {
            client.call("SET", name, "somebody", "PX", "20000");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void a_flush_takes_the_vote_until_the_member_is_admitted_again() throws Exception {
        QuorumMember commands = connect("hf-f", RedisMode.COMMANDS);
        QuorumMember lua = connect("hf-g", RedisMode.LUA);
        get(commands.admit(0));
        String birth = get(lua.identify()).standing().birth();
        assertThat(birth).isNotEmpty();
        assertThat(get(commands.identify()).standing().birth()).isEqualTo(birth);
        assertThat(get(commands.take(new Take("f", "hf-f:1~1", 20_000, 0, 5, 0)))
                        .standing())
                .isEqualTo(new QuorumMember.Standing(birth, 0));
        try (RespClient client = RespClient.connect(server.host(), server.port(), Duration.ofSeconds(5))) {
            client.call("FLUSHALL");
        }
        assertThat(get(commands.take(new Take("f", "hf-f:2~1", 20_000, 0, 6, 0)))
                        .standing()
                        .birth())
                .isEmpty();
        for (QuorumMember member : List.of(commands, lua)) {
            assertThat(get(member.identify()).uptimeMillis()).isZero();
        }
        QuorumMember.Standing admitted = get(commands.admit(60_000));
        assertThat(admitted.quarantineMillis()).isEqualTo(60_000);
        assertThat(get(lua.admit(1)).birth()).isEqualTo(admitted.birth());
        assertThat(get(lua.take(new Take("f", "hf-g:1~1", 20_000, 0, 7, 0)))
                        .standing()
                        .quarantineMillis())
                .isBetween(30_000L, 60_000L);
        // For the other tests.
        try (RespClient client = RespClient.connect(server.host(), server.port(), Duration.ofSeconds(5))) {
            client.call("FLUSHALL");
        }
    }

    private record Hearing(String who, List<String> heard) implements QuorumMember.Listener {
        @Override
        public void released(String name, int rank) {
            heard.add(who + ": " + name + " is released, rank " + rank);
        }

        @Override
        public void contended(String name, String id) {
            heard.add(who + ": " + name + ", somebody waits behind " + id);
        }

        @Override
        public void reconnected() {}
    }
}
