package io.holdfast.verify.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.testkit.servers.Installation;
import io.holdfast.testkit.servers.RedisServer;
import io.holdfast.testkit.servers.RespClient;
import io.holdfast.testkit.servers.RespClient.ErrorReply;
import io.holdfast.verify.redis.KeySpace.Kind;
import io.holdfast.verify.redis.KeySpace.Refusal;
import io.holdfast.verify.redis.KeySpace.Status;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The model of Redis under the simulation does what a real server does: the same random commands on both, from two
 * connections with transactions, have the same answers. On every server that runs on this machine.
 */
class CommandsModelTest {

    private static final int SEQUENCES = Integer.getInteger("holdfast.sequences", 60);
    private static final int STEPS = 40;

    private static final List<String> KEYS = List.of("k", "l", "m");
    private static final List<String> VALUES = List.of("a", "b", "1");

    /** One connection, at the server and at the model. */
    private static final class Both {
        final RespClient real;
        final RedisModel.Session model;
        boolean transaction;

        Both(RespClient real, RedisModel.Session model) {
            this.real = real;
            this.model = model;
        }
    }

    private long now = System.currentTimeMillis();

    private static RespClient connect(RedisServer server) throws IOException {
        return RespClient.connect(server.host(), server.port(), Duration.ofSeconds(5));
    }

    /** By what it does, not by its version. */
    private static Kind kind(RespClient real) {
        boolean delifeq =
                !String.valueOf(ask(real, List.of("DELIFEQ", "kind", "a"))).startsWith("!");
        boolean delex = !String.valueOf(ask(real, List.of("DELEX", "kind", "IFEQ", "a")))
                .startsWith("!");
        boolean setIfeq = !String.valueOf(ask(real, List.of("SET", "kind", "a", "IFEQ", "b", "PX", "1")))
                .startsWith("!");
        return Arrays.stream(Kind.values())
                .filter(kind -> kind.delifeq == delifeq && kind.delex == delex && kind.setIfeq == setIfeq)
                .findFirst()
                .orElseThrow();
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("io.holdfast.testkit.servers.RedisServer#available")
    void random_commands_have_the_same_answers(Installation installation) throws Exception {
        try (RedisServer server =
                        RedisServer.builder().installation(installation).start();
                RespClient first = connect(server);
                RespClient second = connect(server)) {
            Kind kind = kind(first);
            for (int seed = 0; seed < SEQUENCES; seed++) {
                play(seed, kind, first, second);
            }
            System.out.printf("%s is %s: %d sequences of %d commands%n", installation, kind, SEQUENCES, STEPS);
        }
    }

    private void play(long seed, Kind kind, RespClient first, RespClient second) throws Exception {
        SplittableRandom random = new SplittableRandom(seed);
        RedisModel model = new RedisModel(kind, (key, entry) -> {});
        List<Both> connections = List.of(
                new Both(first, model.open((channel, message) -> {})),
                new Both(second, model.open((channel, message) -> {})));
        assertThat(ask(first, List.of("FLUSHALL"))).isEqualTo("OK");
        List<String> done = new ArrayList<>();
        for (int step = 0; step < STEPS; step++) {
            int which = random.nextInt(2);
            Both both = connections.get(which);
            List<String> words = command(random, both);
            done.add(which + ": " + String.join(" ", words));
            compare(seed, done, both, words);
            if (words.get(0).equals("PEXPIRE") && words.get(2).equals("1") && !both.transaction) {
                Thread.sleep(3);
                now += 3;
            }
        }
        for (Both both : connections) {
            if (both.transaction) {
                both.transaction = false;
                compare(seed, done, both, List.of("EXEC"));
            }
            compare(seed, done, both, List.of("UNWATCH"));
        }
        for (String key : KEYS) {
            compare(seed, done, connections.get(0), List.of("TYPE", key));
            compare(seed, done, connections.get(0), List.of("GET", key));
            compare(seed, done, connections.get(0), List.of("PTTL", key));
        }
    }

    private void compare(long seed, List<String> done, Both both, List<String> words) {
        Object real = ask(both.real, words);
        Object model = shown(both.model.execute(words, now));
        assertThat(coarse(model)).as("seed %s, %s", seed, done).isEqualTo(coarse(real));
    }

    private List<String> command(SplittableRandom random, Both both) {
        String key = any(random, KEYS);
        String value = any(random, VALUES);
        String other = any(random, VALUES);
        String millis = Long.toString(random.nextInt(3) == 0 ? 20_000 : 60_000);
        return switch (random.nextInt(18)) {
            case 0 -> List.of("GET", key);
            case 1 -> List.of("SET", key, value);
            case 2 -> List.of("SET", key, value, "PX", millis);
            case 3, 4 -> List.of("SET", key, value, "NX", "PX", millis);
            case 5, 6 -> List.of("SET", key, value, "IFEQ", other, "PX", millis);
            case 7 -> List.of("DEL", key);
            case 8 -> List.of("DELIFEQ", key, value);
            case 9 -> List.of("DELEX", key, "IFEQ", value);
            case 10 -> List.of("PTTL", key);
            case 11 -> List.of("PEXPIRE", key, random.nextInt(4) == 0 && !both.transaction ? "1" : millis);
            case 12 -> List.of("TYPE", key);
            case 13 -> List.of("INCR", key);
            case 14 -> both.transaction ? List.of("PUBLISH", "nobody", value) : List.of("WATCH", key);
            case 15 -> both.transaction ? List.of("PUBSUB", "NUMSUB", "nobody") : List.of("UNWATCH");
            default -> {
                both.transaction = !both.transaction;
                yield List.of(both.transaction ? "MULTI" : "EXEC");
            }
        };
    }

    private static String any(SplittableRandom random, List<String> from) {
        return from.get(random.nextInt(from.size()));
    }

    /** A watched key whose time ends before EXEC has changed; one whose time was over before WATCH has not. */
    @ParameterizedTest(name = "{0}")
    @MethodSource("io.holdfast.testkit.servers.RedisServer#available")
    void keys_expire_under_a_watch_as_at_the_server(Installation installation) throws Exception {
        try (RedisServer server =
                        RedisServer.builder().installation(installation).start();
                RespClient real = connect(server);
                RespClient other = connect(server)) {
            RedisModel model = new RedisModel(kind(real), (key, entry) -> {});
            Both both = new Both(real, model.open((channel, message) -> {}));
            for (boolean looked : new boolean[] {false, true}) {
                List<String> done = new ArrayList<>();
                boolean watched = false;
                // Again, if a machine that stood still took the time between the two.
                for (int attempt = 0; attempt < 10 && !watched; attempt++) {
                    compare(0, done, both, List.of("UNWATCH"));
                    compare(0, done, both, List.of("SET", "k", "a", "PX", "400"));
                    compare(0, done, both, List.of("WATCH", "k"));
                    watched = (Long) ask(other, List.of("PTTL", "k")) > 0;
                }
                assertThat(watched).isTrue();
                Thread.sleep(450);
                now += 450;
                if (looked) {
                    compare(0, done, both, List.of("GET", "k"));
                }
                compare(0, done, both, List.of("MULTI"));
                compare(0, done, both, List.of("SET", "k", "b", "PX", "50"));
                compare(0, done, both, List.of("EXEC"));
                assertThat(ask(other, List.of("GET", "k"))).isNull();

                // Redis 6.2 needs the look: what is over, and still there, has changed for it.
                compare(0, done, both, List.of("SET", "k", "a", "PX", "20"));
                Thread.sleep(50);
                now += 50;
                compare(0, done, both, List.of("GET", "k"));
                compare(0, done, both, List.of("WATCH", "k"));
                compare(0, done, both, List.of("MULTI"));
                compare(0, done, both, List.of("SET", "k", "b"));
                compare(0, done, both, List.of("EXEC"));
                assertThat(ask(other, List.of("GET", "k"))).isEqualTo("b");
                compare(0, done, both, List.of("DEL", "k"));
            }
            RespClient hears = connect(server);
            RedisModel.Session model2 = model.open((channel, message) -> {});
            assertThat(shown(model2.execute(List.of("SUBSCRIBE", "c"), now)))
                    .isEqualTo(ask(hears, List.of("SUBSCRIBE", "c")));
            compare(0, List.of(), both, List.of("PUBSUB", "NUMSUB", "c"));
            compare(0, List.of(), both, List.of("PUBLISH", "c", "x"));
            hears.close();
            model2.close();
        }
    }

    // --- answers ---

    private static @Nullable Object ask(RespClient client, List<String> words) {
        try {
            return shown(client.call(words.toArray(String[]::new)));
        } catch (ErrorReply refusal) {
            return shown(refusal);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** A refusal by the word that it begins with. */
    private static @Nullable Object shown(@Nullable Object answer) {
        if (answer instanceof ErrorReply refusal) {
            return "!" + String.valueOf(refusal.getMessage()).split(" ", 2)[0].toUpperCase(Locale.ROOT);
        }
        if (answer instanceof Refusal refusal) {
            return "!" + refusal.said().split(" ", 2)[0];
        }
        if (answer instanceof Status status) {
            return status.word();
        }
        if (answer instanceof List<?> parts) {
            List<@Nullable Object> shown = new ArrayList<>();
            parts.forEach(part -> shown.add(shown(part)));
            return shown;
        }
        return RedisModel.DISCARDED.equals(answer) ? null : answer;
    }

    /** A time left, to ten seconds: the two clocks are not one. */
    private static @Nullable Object coarse(@Nullable Object answer) {
        if (answer instanceof Long number && number > 5_000) {
            return (number + 5_000) / 10_000;
        }
        return answer instanceof List<?> parts
                ? parts.stream()
                        .map(CommandsModelTest::coarse)
                        .map(String::valueOf)
                        .toList()
                : answer;
    }
}
