package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.quorum.QuorumMember;
import io.holdfast.quorum.QuorumMember.Extension;
import io.holdfast.quorum.QuorumMember.Take;
import io.holdfast.quorum.memory.MemoryQuorumNode;
import io.holdfast.redis.connect.SharedThreads;
import io.holdfast.redis.server.RedisSettings;
import io.holdfast.redis.server.RedisUris;
import io.holdfast.spi.ForceReply;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.TimeSource;
import io.holdfast.testkit.servers.RedisServer;
import io.holdfast.testkit.servers.RespClient;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
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
 * A member that is a server does the same as the member in memory, which the simulation and the tests of the quorum
 * use.
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

    private QuorumMember connect(String clientId) {
        RedisSettings settings = RedisUris.parse(URI.create(server.uri()));
        SharedThreads threads = new SharedThreads();
        QuorumMember member = MemberOpening.open(settings, threads, new StoreContext(clientId, TimeSource.system()));
        open.add(member);
        return member;
    }

    private static <T> T get(CompletionStage<T> stage) {
        return stage.toCompletableFuture().orTimeout(10, TimeUnit.SECONDS).join();
    }

    /** A client as the model has it, and at the server. */
    private record Client(QuorumMember model, QuorumMember real) {}

    @Test
    void random_sequences_have_the_same_answers() {
        MemoryQuorumNode node = new MemoryQuorumNode("model", TimeSource.system());
        List<Client> clients = new ArrayList<>();
        for (int i = 0; i < CLIENTS; i++) {
            String id = "hf-c" + i;
            clients.add(new Client(node.connect(new StoreContext(id, TimeSource.system())), connect(id)));
        }
        get(clients.get(0).model.admit(0));
        get(clients.get(0).real.admit(0));
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
            done.add(step + " " + id + " " + expected);
            assertThat(command.apply(client.real)).as("seed %s: %s", seed, done).isEqualTo(expected);
        }
    }

    @Test
    void a_release_by_force_compares_the_holder_without_its_round() {
        MemoryQuorumNode node = new MemoryQuorumNode("model", TimeSource.system());
        StoreContext context = new StoreContext("hf-f", TimeSource.system());
        for (QuorumMember member : List.of(node.connect(context), connect("hf-f"))) {
            assertThat(get(member.forceRelease("forced", null))).isEqualTo(new ForceReply.Free());
            get(member.take(new Take("forced", "hf-f:1~2", 20_000, 0, 1, 0)));
            ForceReply held = new ForceReply.HeldBy("hf-f:1~2");
            for (String other : List.of("hf-f:11", "hf-f", "hf-f:1~", "hf-f:1~1", "")) {
                assertThat(get(member.forceRelease("forced", other))).as(other).isEqualTo(held);
            }
            ForceReply ended = new ForceReply.Ended("hf-f:1~2");
            assertThat(get(member.forceRelease("forced", "hf-f:1"))).isEqualTo(ended);
            assertThat(get(member.forceRelease("forced", "hf-f:1"))).isEqualTo(new ForceReply.Free());
            get(member.take(new Take("forced", "hf-f:1~2", 20_000, 0, 1, 0)));
            assertThat(get(member.forceRelease("forced", null))).isEqualTo(ended);
        }
    }

    @Test
    void a_release_wakes_a_waiter_and_a_waiter_makes_itself_known() {
        QuorumMember holder = connect("hf-l");
        QuorumMember waiter = connect("hf-k");
        List<String> heard = new CopyOnWriteArrayList<>();
        holder.listen(new Hearing("holder", heard));
        waiter.listen(new Hearing("waiter", heard));
        get(holder.take(new Take("woken", "hf-l:1~1", 20_000, 0, 1, 0)));
        get(waiter.take(new Take("woken", "hf-k:1~1", 20_000, 0, 1, 5_000)));
        await().until(() -> heard.contains("holder: woken, somebody waits behind hf-l:1~1"));
        get(holder.release("woken", "hf-l:1~1", true));
        await().until(() -> heard.contains("waiter: woken is released, rank 0"));

        get(waiter.take(new Take("woken", "hf-k:1~1", 20_000, 0, 2, 0)));
        assertThat(get(holder.forceRelease("woken", "hf-k:1"))).isEqualTo(new ForceReply.Ended("hf-k:1~1"));
        await().until(() -> heard.contains("waiter: woken, the hold of hf-k:1~1 was ended by force"));
    }

    /** What is held is kept: also a hold whose length was set, and those that are renewed by the same command. */
    @Test
    void a_full_server_extends_all_of_a_batch() {
        QuorumMember lua = connect("hf-b");
        String id = "hf-b:1~1";
        for (String name : List.of("full:set", "full:plain", "full:first")) {
            get(lua.take(new Take(name, id, 20_000, 0, 1, 0)));
        }
        get(lua.extend(Extension.set("full:set", id, 20_000, 1)));
        server.command("CONFIG", "SET", "maxmemory", "1");
        try {
            assertThat(found(
                            lua,
                            Extension.extend("full:set", id, 60_000, 1),
                            Extension.extend("full:plain", id, 60_000, 0)))
                    .containsOnly(QuorumMember.Found.HELD);
            // The number of a setting that was not executed is used up in any case.
            assertThat(found(
                            lua,
                            Extension.extend("full:first", id, 30_000, 1),
                            Extension.set("full:first", id, 5_000, 1)))
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
        QuorumMember lua = connect("hf-s");
        String id = "hf-s:1~1";
        get(lua.take(new Take("kept", id, 20_000, 0, 1, 0)));
        get(lua.extend(Extension.set("kept", id, 20_000, 1)));
        assertThat(found(lua, Extension.extend("kept", id, 60_000, 1))).containsOnly(QuorumMember.Found.HELD);
        assertThat((Long) server.command("PTTL", "holdfast:x:{kept}")).isGreaterThan(50_000);
    }

    /** Also where the hold lasts long enough already: an answer to a renewal from before would count for too much. */
    @Test
    void a_repeated_request_uses_up_the_settings_before_it() {
        MemoryQuorumNode node = new MemoryQuorumNode("model", TimeSource.system());
        StoreContext context = new StoreContext("hf-u", TimeSource.system());
        String id = "hf-u:1~1";
        for (QuorumMember member : List.of(node.connect(context), connect("hf-u"))) {
            get(member.take(new Take("used", id, 60_000, 1, 1, 0)));
            get(member.take(new Take("used", id, 20_000, 2, 1, 0)));
            assertThat(get(member.inspect("used")).remainingMillis())
                    .as(member.describe())
                    .isGreaterThan(50_000);
            assertThat(found(member, Extension.set("used", id, 5_000, 1)))
                    .as(member.describe())
                    .containsOnly(QuorumMember.Found.SUPERSEDED);
            assertThat(found(member, Extension.extend("used", id, 60_000, 1)))
                    .as(member.describe())
                    .containsOnly(QuorumMember.Found.SUPERSEDED);
            assertThat(found(member, Extension.extend("used", id, 60_000, 2)))
                    .as(member.describe())
                    .containsOnly(QuorumMember.Found.HELD);
        }
    }

    private static List<QuorumMember.Found> found(QuorumMember member, Extension... extensions) {
        return member.extendAll(List.of(extensions)).stream()
                .map(QuorumMemberModelTest::get)
                .map(QuorumMember.Extended::found)
                .toList();
    }

    /**
     * Its first waiting has ended unnoticed: it was given up at the client, say, while this server could not be
     * reached.
     */
    @Test
    void a_client_that_waits_again_is_told_of_the_next_release() throws Exception {
        QuorumMember lua = connect("hf-r");
        QuorumMember waiter = connect("hf-w");
        get(lua.take(new Take("again", "hf-r:1~1", 20_000, 0, 1, 0)));
        get(waiter.take(new Take("again", "hf-w:1~1", 20_000, 0, 1, 20)));
        // Another client keeps the list of waiting clients.
        get(lua.take(new Take("again", "hf-x:1~1", 20_000, 0, 1, 5_000)));
        Thread.sleep(100);
        get(waiter.take(new Take("again", "hf-w:2~1", 20_000, 0, 1, 5_000)));
        assertThat(get(lua.inspect("again")).waiting()).isEqualTo(2);
    }

    @Test
    void a_flush_takes_the_vote_until_the_member_is_admitted_again() throws Exception {
        QuorumMember first = connect("hf-f");
        QuorumMember second = connect("hf-g");
        get(first.admit(0));
        String birth = get(second.identify()).standing().birth();
        assertThat(birth).isNotEmpty();
        assertThat(get(first.identify()).standing().birth()).isEqualTo(birth);
        assertThat(get(first.take(new Take("f", "hf-f:1~1", 20_000, 0, 5, 0))).standing())
                .isEqualTo(new QuorumMember.Standing(birth, 0));
        try (RespClient client = RespClient.connect(server.host(), server.port(), Duration.ofSeconds(5))) {
            client.call("FLUSHALL");
        }
        assertThat(get(first.take(new Take("f", "hf-f:2~1", 20_000, 0, 6, 0)))
                        .standing()
                        .birth())
                .isEmpty();
        for (QuorumMember member : List.of(first, second)) {
            assertThat(get(member.identify()).uptimeMillis()).isZero();
        }
        QuorumMember.Standing admitted = get(first.admit(60_000));
        assertThat(admitted.quarantineMillis()).isEqualTo(60_000);
        assertThat(get(second.admit(1)).birth()).isEqualTo(admitted.birth());
        assertThat(get(second.take(new Take("f", "hf-g:1~1", 20_000, 0, 7, 0)))
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
        public void forced(String name, String id) {
            heard.add(who + ": " + name + ", the hold of " + id + " was ended by force");
        }

        @Override
        public void reconnected() {}
    }
}
