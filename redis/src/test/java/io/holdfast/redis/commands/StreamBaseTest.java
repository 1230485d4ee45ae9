package io.holdfast.redis.commands;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Ids of a stream as bases: in the ids' order, and in one order with those that scripts make. */
public class StreamBaseTest {

    private static final long NOW = 1_800_000_000_000L;

    @Test
    void basesGrowAsIdsDo() {
        long last = 0;
        for (long millis = NOW; millis < NOW + 3; millis++) {
            for (long sequence = 0; sequence < 16; sequence++) {
                StreamBase id = new StreamBase(millis, sequence);
                assertThat(id.base()).isGreaterThan(last);
                last = id.base();
                assertThat(StreamBase.of(last)).isEqualTo(id);
            }
            StreamBase over = new StreamBase(millis, 16);
            assertThat(over.hasBase()).isFalse();
            assertThat(over.next().base()).isGreaterThan(last);
        }
    }

    @Test
    void theFirstIdOfAMillisecondIsBelowEveryBaseThatAScriptMakesInIt() {
        long scripts = NOW * 16; // at its very beginning
        assertThat(new StreamBase(NOW, 0).base()).isLessThan(scripts).isGreaterThan((NOW - 1) * 16 + 14);
    }

    @Test
    void idsAreReadAndWritten() {
        assertThat(StreamBase.parse("1800000000000-7")).isEqualTo(new StreamBase(NOW, 7));
        assertThat(new StreamBase(NOW, 7).id()).isEqualTo("1800000000000-7");
        assertThat(new StreamBase(1L << 43, 0).base()).isLessThan(1L << 47);
    }
}
