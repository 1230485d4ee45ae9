package io.holdfast.observe;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockListener;
import io.holdfast.engine.EngineFixture;
import io.holdfast.engine.ProbeStore;
import io.holdfast.engine.ProbeStore.Fate;
import io.holdfast.engine.Warnings;
import io.holdfast.spi.StoreContext;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** The events that metrics receive. */
class ListenerTest extends EngineFixture {

    private final LockClient heard = client(
            "heard",
            probe("heard"),
            settings -> settings.listeners = List.of(new LockListener() {
                @Override
                public void acquired(String name, long fencingToken, Duration waited) {
                    events.add("acquired " + name + " after " + waited.toMillis());
                }

                @Override
                public void notAcquired(String name, Duration waited, Outcome how, String why) {
                    events.add("not acquired " + name + ", " + how + " after " + waited.toMillis());
                }

                @Override
                public void released(String name, long fencingToken, Duration held) {
                    events.add("released " + name + " after " + held.toMillis());
                }

                @Override
                public void lost(String name, long fencingToken, Duration held, String why) {
                    events.add("lost " + name + ": " + why);
                }

                @Override
                public void renewalFailed(String name, Throwable cause) {
                    events.add("renewal failed " + name + ": " + cause.getMessage());
                }
            }));

    @Test
    void each_listener_hears_of_an_event_even_if_one_before_it_fails() {
        LockClient told = LockClient.builder()
                .store(probe("told"))
                .timeSource(time)
                .leaseTime(LEASE)
                .callbackExecutor(Runnable::run)
                .listener(new LockListener() {
                    @Override
                    public void acquired(String name, long fencingToken, Duration waited) {
                        events.add("first");
                        throw new IllegalStateException("no room for the event");
                    }
                })
                .listener(new LockListener() {
                    @Override
                    public void acquired(String name, long fencingToken, Duration waited) {
                        events.add("second");
                    }
                })
                .build();
        clients.add(told);
        try (Warnings warnings = new Warnings()) {
            now(acquire(told, "a")).release();
            assertThat(warnings.said("callback")).containsExactly("A callback failed");
        }

        assertThat(events).containsExactly("first", "second");
    }

    /** The event of the release comes before that of the grant. */
    @Test
    void an_executor_that_fails_to_tell_the_listener_keeps_no_grant_from_its_waiter() {
        AtomicBoolean broken = new AtomicBoolean();
        LockClient told = LockClient.builder()
                .store(probe("told"))
                .timeSource(time)
                .leaseTime(LEASE)
                .listener(new LockListener() {})
                .callbackExecutor(callback -> {
                    if (broken.get()) {
                        throw new IllegalStateException("no thread for a callback");
                    }
                    callback.run();
                })
                .build();
        clients.add(told);
        Lease first = now(acquire(told, "a"));
        var next = acquire(told, "a");
        try (Warnings warnings = new Warnings()) {
            broken.set(true);
            first.release();
            assertThat(next).succeedsWithin(Duration.ofSeconds(10));
            broken.set(false);
            assertThat(warnings.said()).contains("The callback executor refuses; running on an own thread");
        }
        next.join().release();
    }

    /** As a wrapper for tracing does whose end fails. */
    @Test
    void an_executor_that_fails_after_it_has_run_a_callback_does_not_run_it_again() throws InterruptedException {
        LockClient wrapped = LockClient.builder()
                .store(probe("wrapped"))
                .timeSource(time)
                .leaseTime(LEASE)
                .callbackExecutor(callback -> {
                    callback.run();
                    throw new IllegalStateException("no end of a trace");
                })
                .build();
        clients.add(wrapped);
        try (Warnings warnings = new Warnings()) {
            Lease lease = now(acquire(wrapped, "a"));
            AtomicInteger told = new AtomicInteger();
            lease.onLost(told::incrementAndGet);
            // The second run would be on a thread of its own.
            Thread.sleep(100);
            assertThat(lease.isValid()).isTrue();
            wrapped.forceRelease("a");
            advance(1_100);
            Thread.sleep(100);
            assertThat(told).hasValue(1);
            assertThat(warnings.said()).isNotEmpty();
        }
    }

    @Test
    void hears_of_leases_and_of_waits_that_end_without_one() {
        Lease first = now(acquire(heard, "a"));
        var next = acquire(heard, "a");
        var late = acquire(heard, "a", DEFAULTS.waitAtMost(Duration.ofMillis(5)));
        advance(7);
        first.release();
        advance(3);
        now(next).release();

        assertThat(late).isCompletedExceptionally();
        assertThat(events)
                .containsExactly(
                        "acquired a after 0",
                        "not acquired a, TIMED_OUT after 5",
                        "released a after 7",
                        "acquired a after 7",
                        "released a after 3");
    }

    @Test
    void hears_of_failed_renewals_and_of_the_loss() {
        ProbeStore probe = probe("failing");
        LockClient failing = client(
                "failing",
                probe,
                settings -> settings.listeners = List.of(new LockListener() {
                    @Override
                    public void renewalFailed(String name, Throwable cause) {
                        events.add("failed");
                    }

                    @Override
                    public void lost(String name, long fencingToken, Duration held, String why) {
                        events.add("lost");
                    }
                }));
        now(acquire(failing, "a"));
        probe.renews = Fate.FAIL;
        advance(3_000);

        assertThat(events).startsWith("failed", "failed").endsWith("lost");
    }

    /** Kotlin and others throw checked exceptions from anywhere. */
    @Test
    void a_checked_exception_of_a_callback_is_logged_and_disturbs_nobody() {
        Lease lease = now(acquire(client, "a"));
        var next = acquire(client, "a");
        lease.onLost(() -> {
            throw ListenerTest.<RuntimeException>unchecked(new IOException("the disk is full"));
        });
        lease.onLost(() -> events.add("lost"));
        server.connect(new StoreContext("admin", time)).forceRelease("a", null);
        try (Warnings warnings = new Warnings()) {
            advance(1_100);
            assertThat(warnings.said("callback")).containsExactly("A callback failed");
        }

        assertThat(events).containsExactly("lost");
        now(next).release();
    }

    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    private static <E extends Throwable> E unchecked(Exception checked) {
        return (E) checked;
    }
}
