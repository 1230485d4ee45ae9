package io.holdfast.engine;

import static java.time.Duration.ofMinutes;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.engine.ProbeStore.Fate;
import io.holdfast.log.Log;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.logging.Level;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What an operator finds in the log without a listener: losses, failing renewals and long waits, at a bounded rate. */
class EngineLogTest extends EngineFixture {

    final LockClient other = client("hf-other");
    final Warnings log = new Warnings(Level.INFO);

    @AfterEach
    void close() {
        log.close();
    }

    @Test
    void a_loss_is_logged_with_name_token_reason_and_the_present_holder() {
        Lease lease = now(acquire(client, "a"));
        assertThat(other.forceRelease("a")).isTrue();
        Lease others = now(acquire(other, "a"));
        advance(1_100);

        assertThat(lease.isValid()).isFalse();
        assertThat(log.said(Level.WARNING, ""))
                .containsExactly(
                        "The lease on \"a\" with token " + lease.fencingToken()
                                + " was lost: the store says that it expired, was removed or was taken (held by \"hf-other:1\" now)");
        others.release();
    }

    /** The line shows the class in place of the logger, and it is the name that the documentation has. */
    @Test
    void the_source_of_each_line_is_the_class_that_the_logger_is_called_after() {
        Lease lease = now(acquire(client, "a"));
        other.forceRelease("a");
        advance(1_100);
        Log.LOG.log(System.Logger.Level.WARNING, "one with a {0}", "value");
        Log.LOG.log(System.Logger.Level.WARNING, () -> "one with a stack", new IllegalStateException());

        assertThat(lease.isValid()).isFalse();
        assertThat(log.said(Level.WARNING, "")).hasSize(3);
        assertThat(log.sources()).containsOnly("io.holdfast.LockClient");
        assertThat(log.stacks()).hasSize(1);
    }

    @Test
    void a_loss_that_the_release_finds_is_logged_like_any_other() {
        Lease lease = now(acquire(client, "a"));
        other.forceRelease("a");
        assertThat(lease.releaseAsync().toCompletableFuture()).isCompletedExceptionally();

        assertThat(log.said(Level.WARNING, ""))
                .containsExactly("The lease on \"a\" with token " + lease.fencingToken()
                        + " was lost: the store did not know it at its release (free now)");
    }

    @Test
    void the_losses_of_an_outage_are_logged_at_a_bounded_rate_and_none_is_left_out_of_the_count() {
        for (int i = 0; i < 1_000; i++) {
            now(acquire(client, "n" + i));
        }
        store.renews = Fate.FAIL;
        store.abandons = Fate.REQUEST_HELD;
        advance(20_000);
        store.abandons = Fate.PASS;
        store.deliverRequests();

        List<String> losses = log.said(Level.WARNING, "lost");
        assertThat(losses).hasSize(11);
        assertThat(losses.get(0)).startsWith("The lease on \"n0\" with token ");
        assertThat(losses.get(0)).endsWith("its time ran out without a successful renewal");
        assertThat(losses.get(10)).startsWith("990 more leases were lost within 10 s");
        assertThat(log.said(Level.WARNING, "")).hasSizeLessThan(15);
    }

    @Test
    void the_first_failed_renewal_is_a_warning_and_the_recovery_an_information() {
        for (int i = 0; i < 20; i++) {
            now(acquire(client, "n" + i));
        }
        store.renews = Fate.FAIL;
        advance(1_600);
        assertThat(log.said(Level.WARNING, ""))
                .containsExactly(
                        "A renewal of the lock \"n0\" failed and is tried again while its lease lasts: store: down");
        assertThat(log.said(Level.INFO, "enewal")).isEmpty();

        store.renews = Fate.PASS;
        advance(1_000);
        assertThat(log.said(Level.INFO, "enewal"))
                .singleElement()
                .asString()
                .startsWith("Renewals succeed again, after ");
        advance(10_000);
        assertThat(log.said(Level.WARNING, "")).hasSize(1);
        assertThat(log.said(Level.INFO, "enewal")).hasSize(1);
    }

    @Test
    void a_wait_that_is_longer_than_a_minute_is_logged_once_when_the_minute_is_over_and_once_when_it_ends() {
        Lease held = now(acquire(other, "a"));
        CompletableFuture<Lease> waiting = acquire(client, "a");
        advance(59_900);
        assertThat(log.said()).isEmpty();
        advance(1_200);
        assertThat(log.said(Level.INFO, ""))
                .singleElement()
                .asString()
                .startsWith("An asynchronous caller has waited for the lock \"a\" for 1 min");
        advance(300_000);
        assertThat(log.said()).hasSize(1);
        held.release();
        advance(2_000);

        assertThat(waiting).isCompleted();
        assertThat(log.said(Level.INFO, "").get(1))
                .startsWith("An asynchronous caller got the lock \"a\" after 6 min ");
        assertThat(log.said()).hasSize(2);
    }

    @Test
    void a_long_wait_that_ends_without_the_lock_says_how() {
        Lease held = now(acquire(other, "a"));
        CompletableFuture<Lease> waiting = acquire(client, "a", DEFAULTS.waitAtMost(ofMinutes(2)));
        advance(120_000);

        assertThat(waiting).isCompletedExceptionally();
        assertThat(log.said(Level.INFO, "did not get"))
                .singleElement()
                .asString()
                .startsWith("An asynchronous caller did not get the lock \"a\" within 2 min: ");
        held.release();
    }

    @Test
    void ten_thousand_long_waits_are_a_bounded_number_of_lines() {
        Lease held = now(acquire(other, "a"));
        List<CompletableFuture<Lease>> waiting = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            waiting.add(acquire(client, "a", DEFAULTS.waitAtMost(ofSeconds(90))));
        }
        advance(90_000);

        assertThat(waiting).allMatch(CompletableFuture::isCompletedExceptionally);
        assertThat(log.said(Level.INFO, "has waited")).hasSize(10);
        assertThat(log.said(Level.INFO, "990 more")).hasSize(1);
        assertThat(log.said(Level.INFO, "did not get")).hasSize(10);
        held.release();
    }
}
