package io.holdfast.redis.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.spi.StoreException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

public class LockKeysTest {

    /** The format that is stored: a change here breaks a fleet of mixed versions. */
    @ParameterizedTest
    @CsvSource({
        "lock:, order:1, lock:order:1",
        "lock:, 'a{b}c', 'lock:a{b}c'",
        "'{app}:', order:1, '{app}:order:1'",
        "'', order:1, order:1",
        "holdfast, :x, holdfast:x", // with another internal prefix
    })
    void theKeyIsThePrefixAndTheName(String prefix, String name, String key) {
        LockKeys keys = new LockKeys(prefix, "internal");
        assertThat(keys.of(name)).isEqualTo(key);
        assertThat(keys.nameOf(key)).isEqualTo(name);
    }

    @Test
    void aStrangeKeyHasNoName() {
        assertThat(new LockKeys("lock:", "holdfast").nameOf("other:x")).isNull();
    }

    /** The scripts' keys are in one slot, whatever braces prefix and name have. */
    @ParameterizedTest
    @ValueSource(strings = {"", "lock:", "{app}:", "{", "}", "{}", "a{b", "a}b", "{{", "{a}{b}", "}{"})
    void everyNameWithEveryPrefixIsOfOneSlot(String prefix) {
        LockKeys keys = new LockKeys(prefix, "holdfast");
        RedisKeys internal = RedisKeys.ofCluster("holdfast");
        for (String name : new String[] {"order:1", "a{b}c", "a}b", "a{}b", "{}", "{", "}", "}{", "{x}", "{user}:1"}) {
            String key = keys.of(name);
            for (String one : internal.of(key)) {
                assertThat(RedisKeys.slot(one)).as(one).isEqualTo(RedisKeys.slot(key));
            }
        }
    }

    @ParameterizedTest
    @CsvSource({
        "'', holdfast:birth, holdfast:",
        "'', 'holdfast:q:{y}', holdfast:",
        "hold, 'fast:q:{y}', fast:",
        "'', holdfast:, holdfast:"
    })
    void internalKeysAreNoLocks(String prefix, String name, String beginning) {
        LockKeys keys = new LockKeys(prefix, "holdfast");
        assertThatThrownBy(() -> keys.of(name))
                .isInstanceOf(StoreException.class)
                .hasMessage(
                        "lock name: \"" + name + "\" stands for a key among Holdfast's internal ones (expected: a name"
                                + " that does not begin with \"" + beginning + "\")");
        assertThat(keys.of("holdfast2:x")).endsWith("holdfast2:x");
    }
}
