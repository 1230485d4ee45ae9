package io.holdfast;

import static java.time.Duration.ofDays;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.spi.Names;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Bad input gets one clear sentence: the value, the limit, the way out. */
class BadInputTest {

    private final LockClient client = LockClient.connect("memory:bad-input");

    @AfterEach
    void close() {
        client.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " ", "\t\n"})
    void a_blank_name(String name) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> client.tryAcquire(name))
                .withMessage("lock name: \"" + Names.printable(name)
                        + "\" (expected: not blank, for example \"order:refund:12345\")");
        assertThatIllegalArgumentException().isThrownBy(() -> client.getLock(name));
        assertThatIllegalArgumentException().isThrownBy(() -> client.inspect(name));
    }

    @Test
    void a_name_that_is_too_long_counts_bytes() {
        assertThat(client.tryAcquire("ü".repeat(512))).isPresent();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> client.tryAcquire("ü".repeat(513)))
                .withMessageContaining("1026 bytes")
                .withMessageContaining("at most 1024 bytes");
    }

    /** Stores keep names as UTF-8, which has no such characters: all of them would be one key there, "p?". */
    @ParameterizedTest
    @ValueSource(strings = {"p\uD800", "p\uDC00", "\uDC00\uD800", "p\uD800x", "\uD83D\uDE00\uD83D"})
    void a_name_with_half_a_character(String name) {
        LockOptions options = LockOptions.defaults();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> client.tryAcquire("p\uD800"))
                .withMessage("lock name: \"p\\uD800\" has an unpaired surrogate at index 1 (expected: text that UTF-8"
                        + " can write, without half of a surrogate pair)");
        assertThatIllegalArgumentException().isThrownBy(() -> client.tryAcquire(name));
        assertThatIllegalArgumentException().isThrownBy(() -> client.tryAcquire(name, options));
        assertThatIllegalArgumentException().isThrownBy(() -> client.acquire(name));
        assertThatIllegalArgumentException().isThrownBy(() -> client.acquireAsync(name, options));
        assertThatIllegalArgumentException().isThrownBy(() -> client.acquireAll(List.of("a", name), options));
        assertThatIllegalArgumentException().isThrownBy(() -> client.getLock(name));
        assertThatIllegalArgumentException().isThrownBy(() -> client.inspect(name));
        assertThatIllegalArgumentException().isThrownBy(() -> client.forceRelease(name));
        assertThatIllegalArgumentException().isThrownBy(() -> LockClient.checkName(name));
        assertThat(client.tryAcquire("pair \uD83D\uDE00")).isPresent();
    }

    @Test
    void a_name_that_is_too_long_is_not_cut_within_a_character() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> client.tryAcquire("x" + "\uD83D\uDE00".repeat(300)))
                .withMessageContaining("starting with \"x" + "\uD83D\uDE00".repeat(19) + "\"");
    }

    @Test
    void durations_out_of_bounds() {
        LockOptions options = LockOptions.defaults();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> options.waitAtMost(ofSeconds(-1)))
                .withMessage("waitAtMost: -1 s (expected: zero or more)");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> options.waitAtMost(Duration.ofSeconds(Long.MAX_VALUE)))
                .withMessageContaining("at most");
        for (Duration bad : new Duration[] {Duration.ZERO, ofMillis(-5), ofMillis(99)}) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> options.leaseFor(bad))
                    .withMessage("leaseFor: " + io.holdfast.spi.DurationText.of(bad)
                            + " (expected: at least 100 ms, the shortest lease that can be kept)");
            assertThatIllegalArgumentException().isThrownBy(() -> options.holdAtMost(bad));
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> LockClient.builder().leaseTime(bad));
        }
        assertThatIllegalArgumentException()
                .isThrownBy(() -> options.leaseFor(ofDays(366)))
                .withMessageContaining("at most 365 d");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> client.getLock("a").lock(Long.MAX_VALUE, TimeUnit.DAYS))
                .withMessageContaining("lease: 9223372036854775807 DAYS");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> client.getLock("a").lock(0, TimeUnit.SECONDS))
                .withMessageContaining("0 ms");
    }

    @Test
    void a_fixed_and_a_renewed_length_together() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> LockOptions.defaults().leaseFor(ofSeconds(1)).holdAtMost(ofSeconds(2)))
                .withMessageContaining("one of them");
    }

    @Test
    void an_unknown_scheme_names_the_known_ones() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> LockClient.connect("mysql://localhost"))
                .withMessage("store URI scheme: \"mysql\" (expected: one of [memory])");
    }

    @Test
    void a_missing_module_is_named() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> LockClient.connect("redis://localhost"))
                .withMessageContaining("io.holdfast:holdfast-redis");
    }

    @Test
    void a_malformed_uri_is_shown_without_its_password() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> LockClient.connect("redis://user:sec ret@localhost"))
                .withMessageContaining("malformed")
                .withMessageNotContaining("sec ret");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> LockClient.connect("redis-sentinel://app:pw@s1,s2?sentinelPassword=p^ss#m"))
                .withMessageContaining("redis-sentinel://***")
                .withMessageNotContaining("p^ss");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> LockClient.connect("redis-sentinel://s1?sentinelPassword=p@s^s#m"))
                .withMessageContaining("redis-sentinel://***")
                .withMessageNotContaining("s^s");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> LockClient.connect("localhost"))
                .withMessageContaining("has no scheme");
        for (String bare : new String[] {"localhost:6379", "127.0.0.1:6379", "10.0.0.7", "cache.example.com:6379/3"}) {
            assertThatIllegalArgumentException()
                    .as(bare)
                    .isThrownBy(() -> LockClient.connect(bare))
                    .withMessageContaining("redis:// or another is missing at its beginning");
        }
        // Before the module is looked for: each of our stores says the same.
        for (String store : new String[] {"redis://h", "redis-cluster://h", "redlock://h1,h2,h3", "zookeeper://h"}) {
            assertThatIllegalArgumentException()
                    .as(store)
                    .isThrownBy(() -> LockClient.connect(store + "?leaseTime=10s"))
                    .withMessage("store URI, option: \"leaseTime\", which is no setting of the store (expected:"
                            + " LockClient.builder().leaseTime(…), or holdfast.lease-time in Spring)");
        }
        for (String forgotten : new String[] {
            "redis://user:s^cret", "user:s^cret", "redis:user:s^cret", "redis//user:s^cret", "redis://:s^cret/0"
        }) {
            assertThatIllegalArgumentException()
                    .as(forgotten)
                    .isThrownBy(() -> LockClient.connect(forgotten))
                    .withMessageNotContaining("s^cret");
        }
        assertThatIllegalArgumentException()
                .isThrownBy(() -> LockClient.connect("secret:x"))
                .withMessageNotContaining("secret");
    }

    @Test
    void a_builder_without_a_store() {
        assertThatThrownBy(() -> LockClient.builder().build()).hasMessageContaining("either a uri or a store");
    }

    @Test
    void a_closed_client() {
        LockClient closed = LockClient.connect("memory:bad-input");
        closed.close();
        closed.close();
        assertThatThrownBy(() -> closed.tryAcquire("a"))
                .isInstanceOf(LockClientClosedException.class)
                .hasMessageContaining("closed");
    }
}
