package io.holdfast.redis.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.testkit.servers.ChildJvm;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

public class RedisKeysTest {

    private static final RedisKeys KEYS = RedisKeys.ofCluster("holdfast");

    /** The format that is stored: a change here breaks a fleet of mixed versions. */
    @ParameterizedTest
    @CsvSource({
        "order:refund:12345, holdfast:q:{order:refund:12345}",
        "'a{b}c', 'holdfast:q::a{b}c'",
        "'{{a}', 'holdfast:q::{{a}'",
        "'a{b', 'holdfast:q:{a{b}'",
        "'a}b', 'holdfast:q:{4w2}:a}b'",
        "'a{}b', 'holdfast:q:{5dc}:a{}b'",
        "'{}{x}', 'holdfast:q:{im}:{}{x}'",
    })
    void namesOfKeysStayAsTheyAre(String name, String queue) {
        assertThat(KEYS.of(name)).containsExactly(name, queue, KEYS.counter(name));
        assertThat(KEYS.queue(name)).isEqualTo(queue);
        String rest = queue.substring("holdfast:q".length());
        assertThat(KEYS.ofPool(name))
                .containsExactly("holdfast:h" + rest, "holdfast:o" + rest, KEYS.counter(name), "holdfast:e" + rest);
    }

    /** A message about a pool carries the key of its holds. Anybody may publish any text. */
    @Test
    void thePoolOfAKeyIsFound() {
        for (String name : new String[] {
            "a", "{a}", "a{a}", "a}", "{}a", ":a", ":{a}", "{a}:a", "a}:a", "{a}:a}", "a{b", "{}{x}", "{}", "}", "{", ""
        }) {
            assertThat(KEYS.poolOf(KEYS.poolHolds(name))).as(name).isEqualTo(name);
        }
        for (String key : new String[] {"a", "holdfast:q:{a}", "holdfast:h", "holdfast:h:a", "lock:holdfast:h:{a}"}) {
            assertThat(KEYS.poolOf(key)).as(key).isNull();
        }
        // No name has these keys, so nobody waits for what they stand for.
        assertThat(KEYS.poolOf("holdfast:h:{a}b")).isNull();
        assertThat(KEYS.poolOf("holdfast:h:{a}:")).isEmpty();
    }

    @Test
    void aServerHasOneCounterAndAClusterOneForEachSlot() {
        assertThat(RedisKeys.ofServer("holdfast").counter("a")).isEqualTo("holdfast:b");
        assertThat(KEYS.counter("a")).isEqualTo("holdfast:b:{a}");
        assertThat(KEYS.counter("b{a}c")).isEqualTo(KEYS.counter("a"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "{}", "}", "{", "}{", "{}}", "{{}}", "{}{a}", "a{}{b}", "a}{b}", "}}}", "é}", "{€}", "锁}"})
    void oddNamesShareOneSlot(String name) {
        assertSharesSlot(name);
    }

    @Test
    void randomNamesShareOneSlot() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        String alphabet = "ab:{}{}é€锁 ";
        for (int i = 0; i < 20_000; i++) {
            StringBuilder name = new StringBuilder();
            for (int length = 1 + random.nextInt(12); length > 0; length--) {
                name.append(alphabet.charAt(random.nextInt(alphabet.length())));
            }
            assertSharesSlot(name.toString());
        }
    }

    @Test
    void queuesOfDifferentLocksDiffer() {
        Set<String> seen = new HashSet<>();
        for (String name : new String[] {
            "a", "{a}", "a{a}", "q:a", "a}", "{}a", "a:q:a", ":a", ":{a}", "{a}:a", "a}:a", "{a}:a}", "a}b"
        }) {
            assertThat(seen.add(KEYS.queue(name))).as("queue of %s", name).isTrue();
        }
    }

    @ParameterizedTest
    @CsvSource({
        "a, redisson_lock__channel:{a}",
        "a}b, redisson_lock__channel:{a}b}",
        "'a{b', 'redisson_lock__channel:a{b'",
        "'a{b}', 'redisson_lock__channel:a{b}'",
        "'{}', 'redisson_lock__channel:{}'",
    })
    void redissonChannelsFollowItsRule(String name, String channel) {
        assertThat(RedisKeys.redissonChannel(name)).isEqualTo(channel);
    }

    /** Java 17 takes the locale's charset where none is named: ASCII in many containers. */
    @Test
    void slotsDoNotDependOnTheLocale() throws Exception {
        Process child = ChildJvm.command("-Dfile.encoding=US-ASCII", Slots.class.getName())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try {
            // What it prints is less than a pipe holds.
            assertThat(child.waitFor(60, TimeUnit.SECONDS)).isTrue();
            assertThat(new String(child.getInputStream().readAllBytes(), StandardCharsets.UTF_8).lines())
                    .containsExactly(
                            Integer.toString(slot("\u00fc1")),
                            Integer.toString(slot("\u00f61")),
                            KEYS.queue("\u00fc}").replaceFirst("}:.*", ""));
        } finally {
            child.destroyForcibly();
        }
    }

    /** Runs in the child. */
    static final class Slots {

        private Slots() {}

        public static void main(String[] args) {
            System.out.println(RedisKeys.slot("\u00fc1"));
            System.out.println(RedisKeys.slot("\u00f61"));
            System.out.println(KEYS.queue("\u00fc}").replaceFirst("}:.*", ""));
        }
    }

    private static void assertSharesSlot(String name) {
        int slot = slot(name);
        assertThat(RedisKeys.slot(name)).isEqualTo(slot);
        for (String key : KEYS.of(name)) {
            assertThat(slot(key)).as("slot of \"%s\" for \"%s\"", key, name).isEqualTo(slot);
        }
    }

    /** The rule and the checksum of the cluster specification, bit by bit, to check Lettuce's table as well. */
    private static int slot(String key) {
        byte[] bytes = key.getBytes(StandardCharsets.UTF_8);
        int from = 0;
        int to = bytes.length;
        int open = key.indexOf('{');
        int close = open < 0 ? -1 : key.indexOf('}', open + 1);
        if (close > open + 1) {
            from = key.substring(0, open + 1).getBytes(StandardCharsets.UTF_8).length;
            to = key.substring(0, close).getBytes(StandardCharsets.UTF_8).length;
        }
        int crc = 0;
        for (int i = from; i < to; i++) {
            crc ^= (bytes[i] & 0xff) << 8;
            for (int bit = 0; bit < 8; bit++) {
                crc = (crc & 0x8000) != 0 ? (crc << 1) ^ 0x1021 : crc << 1;
            }
            crc &= 0xffff;
        }
        return crc % 16_384;
    }
}
