package io.holdfast.engine;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.type;

import io.holdfast.Inside;
import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.LockTimeoutException;
import io.holdfast.MultiLease;
import io.holdfast.spi.DurationText;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What people read: how long, of what, and held by whom. */
class MessagesTest extends EngineFixture {

    @ParameterizedTest
    @CsvSource({
        "PT0S, 0 ms",
        "PT0.0005S, 0.5 ms",
        "PT0.3S, 300 ms",
        "PT2S, 2 s",
        "PT1.5S, 1.5 s",
        "PT1.05S, 1.05 s",
        "PT1M, 1 min",
        "PT1M30S, 1 min 30 s",
        "PT2H0.25S, 2 h 0.25 s",
        "P365D, 365 d",
        "-PT1S, -1 s"
    })
    void a_duration_is_written_in_one_way(Duration duration, String text) {
        assertThat(DurationText.of(duration)).isEqualTo(text);
    }

    @ParameterizedTest
    @CsvSource({"PT0.0123456S, 12 ms", "PT9.8765S, 9.876 s", "PT61.9S, 1 min 1 s"})
    void a_measured_duration_is_rounded(Duration duration, String text) {
        assertThat(DurationText.rounded(duration)).isEqualTo(text);
    }

    @Test
    void a_value_just_above_a_limit_does_not_read_like_the_limit() {
        Duration above = Duration.ofDays(365).plusNanos(1);
        assertThatThrownBy(() -> DEFAULTS.leaseFor(above))
                .hasMessage("leaseFor: 365 d 0.000000001 s (expected: at most 365 d)");
    }

    @Test
    void a_wait_for_a_lease_that_the_same_thread_took_says_so() throws InterruptedException {
        Lease own = client.acquire("a");
        advance(2_000);
        String expected = "The lock \"a\" is held by this thread's own lease since 2 s (a Lease is not reentrant:"
                + " pass it on instead of acquiring again, or use getLock)";
        assertThatThrownBy(() -> client.acquire("a", DEFAULTS.waitAtMost(Duration.ZERO)))
                .isInstanceOf(LockTimeoutException.class)
                .hasMessage(expected);
        Thread waiting = Thread.currentThread();
        Waiter patient =
                Waiter.blocking(DEFAULTS.waitAtMost(ofMillis(500)), Waiter.Mode.PATIENT, null, time.nanoTime());
        Inside.engine(client).engine("a").submit(patient);
        advance(500);
        assertThat(waiting).isSameAs(Thread.currentThread());
        assertThatThrownBy(patient::leaseOrThrow)
                .hasMessageStartingWith("The lock \"a\" is held by this thread's own lease since 2.5 s");
        own.release();
    }

    @Test
    void a_wait_for_a_lease_that_another_caller_here_took_says_so() {
        Lease held = now(acquire(client, "a"));
        advance(1_000);
        assertThatThrownBy(() -> client.acquire("a", DEFAULTS.waitAtMost(Duration.ZERO)))
                .hasMessage("The lock \"a\" is held by another caller of this client since 1 s");
        held.release();
    }

    /** {@code @Locked} and LockTemplate acquire one name in this way. */
    @Test
    void an_acquisition_of_one_name_says_what_a_single_one_says() {
        Lease held = now(acquire(client, "a"));
        LockClient other = client("two");
        LockOptions once = DEFAULTS.waitAtMost(Duration.ZERO);
        String holder = held.holderId();
        assertThatThrownBy(() -> other.acquireAll(List.of("a"), once))
                .hasMessage("The lock \"a\" is held by \"" + holder + "\"")
                .asInstanceOf(type(LockTimeoutException.class))
                .satisfies(busy -> assertThat(busy.holder()).contains(holder))
                .satisfies(busy -> assertThat(busy.lockNames()).containsExactly("a"));
        var stage = other.acquireAllAsync(List.of("a"), DEFAULTS.waitAtMost(ofMillis(700)));
        time.advance(ofMillis(700));
        assertThatThrownBy(() -> stage.toCompletableFuture().join())
                .cause()
                .hasMessage("The lock \"a\" was held by others for 700 ms, last by \"" + holder + "\"")
                .asInstanceOf(type(LockTimeoutException.class))
                .satisfies(busy -> assertThat(busy.waited()).isEqualTo(ofMillis(700)));
        assertThatThrownBy(() -> client.acquireAll(List.of("a"), once))
                .hasMessage("The lock \"a\" is held by another caller of this client since 700 ms");
        held.release();
    }

    @Test
    void of_several_names_the_message_tells_of_the_busy_one() {
        Lease held = now(acquire(client, "b"));
        LockClient other = client("two");
        String holder = held.holderId();
        var stage = other.acquireAllAsync(List.of("c", "b", "a"), DEFAULTS.waitAtMost(ofMillis(700)));
        time.advance(ofMillis(700));
        assertThatThrownBy(() -> stage.toCompletableFuture().join())
                .cause()
                .hasMessage("The locks \"a\", \"b\", \"c\" were not free together within 700 ms: the lock \"b\" was"
                        + " held by others for 700 ms, last by \"" + holder + "\"")
                .asInstanceOf(type(LockTimeoutException.class))
                .satisfies(busy -> assertThat(busy.holder()).contains(holder))
                .satisfies(busy -> assertThat(busy.lockNames()).containsExactly("a", "b", "c"));
        assertThatThrownBy(() -> other.acquireAll(List.of("a", "b"), DEFAULTS.waitAtMost(Duration.ZERO)))
                .hasMessageStartingWith("The locks \"a\", \"b\" were not free together: the lock \"b\" is held by ");
        held.release();
    }

    /** What an earlier name left of the wait time has nanoseconds. */
    @Test
    void the_wait_for_one_of_several_names_is_in_whole_milliseconds() {
        Lease first = now(acquire(client, "a"));
        Lease second = now(acquire(client, "b"));
        LockClient other = client("two");
        var stage = other.acquireAllAsync(List.of("a", "b"), DEFAULTS.waitAtMost(ofMillis(700)));
        time.advance(ofMillis(100).plusNanos(1));
        first.release();
        time.advance(ofMillis(700));
        assertThatThrownBy(() -> stage.toCompletableFuture().join())
                .cause()
                .hasMessageContaining("the lock \"b\" was held by others for 600 ms, last by ");
        second.release();
    }

    @Test
    void leases_and_clients_are_readable_in_a_log() throws InterruptedException {
        ActiveLease renewed = now(acquire(client, "a"));
        ActiveLease fixed = now(acquire(client, "b", DEFAULTS.leaseFor(ofSeconds(60))));
        assertThat(renewed)
                .hasToString(
                        "Lease[\"a\", token " + renewed.fencingToken() + ", held, valid for 2.968 s unless renewed]");
        assertThat(fixed.toString()).startsWith("Lease[\"b\", token ").endsWith(", held, valid for 59 s]");
        assertThat(client).hasToString("LockClient[probe, open, 2 names in use]");
        assertThat(client.getLock("a")).hasToString("DistributedLock[\"a\"]");
        renewed.release();
        assertThat(renewed.toString()).endsWith(", released]");
        advance(60_000);
        assertThat(fixed.toString()).endsWith(", lost: its fixed time is over]");
        MultiLease both = client.acquireAll(List.of("c", "d"), DEFAULTS);
        assertThat(both.toString()).startsWith("MultiLease[Lease[\"c\", token ").contains("Lease[\"d\", token ");
        both.release();
        client.close();
        assertThat(client).hasToString("LockClient[probe, closed, 0 names in use]");
    }
}
