package io.holdfast.engine;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.log.BoundedLog;
import io.holdfast.spi.DurationText;
import java.lang.ref.WeakReference;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * A lease that nobody can release any more is reported, once, and stays held: some programs mean to hold a name to
 * their end.
 */
class ForgottenLeaseTest extends EngineFixture {

    private static final String FORGOTTEN = "nothing in this program refers to it any more";

    private final Warnings warnings = new Warnings();

    @AfterEach
    void close() {
        warnings.close();
    }

    @Test
    void it_is_reported_once_and_stays_held() {
        client.tryAcquire("a").ifPresent(lease -> {});

        overManyRenewals();

        assertThat(reports())
                .singleElement()
                .asString()
                .contains("The lease on \"a\" with token")
                .contains("release()");
        assertThat(client.inspect("a").isLocked()).isTrue();
    }

    @Test
    void so_is_one_of_a_stage_that_nobody_kept() {
        dropStage();

        overManyRenewals();

        assertThat(reports()).hasSize(1);
    }

    @Test
    void so_is_one_of_several_that_were_acquired_together() throws Exception {
        Lease kept = client.acquireAll(List.of("a", "b"), DEFAULTS).lease("b");

        overManyRenewals();

        assertThat(reports()).singleElement().asString().contains("The lease on \"a\" ");
        kept.release();
    }

    @Test
    void one_that_is_kept_is_not() {
        Lease kept = client.tryAcquire("a").orElseThrow();

        overManyRenewals();

        assertThat(reports()).isEmpty();
        kept.release();
    }

    @Test
    void one_with_an_end_of_its_own_is_not_but_its_end_is() throws Exception {
        client.tryAcquire("fixed", DEFAULTS.leaseFor(ofSeconds(6))).ifPresent(lease -> {});
        client.tryAcquire("limited", DEFAULTS.holdAtMost(ofSeconds(6))).ifPresent(lease -> {});

        overManyRenewals();

        assertThat(reports()).isEmpty();
        assertThat(warnings.said("The lease on \"fixed\" ")).hasSize(1);
        assertThat(warnings.said("The lease on \"limited\" ")).hasSize(1);
    }

    @Test
    void many_have_ten_lines_and_their_number() {
        for (int i = 0; i < 100; i++) {
            client.tryAcquire("n" + i).ifPresent(lease -> {});
        }

        overManyRenewals();
        advance(BoundedLog.WINDOW.toMillis());

        assertThat(reports()).hasSize(10);
        assertThat(warnings.said("90 more leases were found forgotten within 10 s"))
                .hasSize(1);
    }

    @Test
    void what_is_seen_of_a_lease_is_what_its_user_has() {
        Lease kept = client.tryAcquire("a").orElseThrow();

        assertThat(client.localLocks().get(0).lease()).containsSame(kept);
        assertThat(kept)
                .hasToString("Lease[\"a\", token " + kept.fencingToken() + ", held, valid for "
                        + DurationText.rounded(kept.remaining()) + " unless renewed]");
        kept.release();
    }

    /** An application that lost sight of a lease can still free the name. */
    @Test
    void a_forgotten_one_is_still_seen_and_can_be_released() {
        client.tryAcquire("a").ifPresent(lease -> {});
        overManyRenewals();

        client.localLocks().get(0).lease().orElseThrow().release();

        assertThat(client.inspect("a").isLocked()).isFalse();
    }

    @Test
    void one_that_a_thread_owns_is_not() {
        client.getLock("a").lock();

        overManyRenewals();

        assertThat(reports()).isEmpty();
        client.getLock("a").unlock();
    }

    /** The engine keeps the callback, and a callback that uses the lease keeps the lease. */
    @Test
    void its_callbacks_run_all_the_same() {
        client.tryAcquire("a").orElseThrow().onLost(() -> events.add("lost"));

        overManyRenewals();
        assertThat(reports()).hasSize(1);
        client.forceRelease("a");
        advance(LEASE.toMillis());

        assertThat(events).containsExactly("lost");
    }

    @Test
    void a_lease_that_its_callback_uses_is_not_forgotten() {
        Lease lease = client.tryAcquire("a").orElseThrow();
        lease.onLost(() -> events.add("lost " + lease.name()));
        WeakReference<Lease> kept = new WeakReference<>(lease);

        overManyRenewals();

        assertThat(kept.get()).isNotNull();
        assertThat(reports()).isEmpty();
    }

    @Test
    void the_callbacks_of_several_do_not_keep_them() throws Exception {
        client.acquireAll(List.of("a", "b"), DEFAULTS).onLost(lost -> events.add("lost " + lost.name()));

        overManyRenewals();
        assertThat(reports()).hasSize(2);
        client.forceRelease("b");
        advance(LEASE.toMillis());

        assertThat(events).containsExactly("lost b");
    }

    @Test
    void where_it_was_acquired_is_shown_on_request() {
        LockClient traced = client("traced", probe("traced"), settings -> settings.tracesLeases = true);
        traced.tryAcquire("a").ifPresent(lease -> {});

        overManyRenewals();

        assertThat(reports()).hasSize(1);
        assertThat(warnings.stacks())
                .singleElement()
                .satisfies(place -> assertThat(place)
                        .hasMessage("The lease on \"a\" was acquired here")
                        .hasStackTraceContaining("where_it_was_acquired_is_shown_on_request"));
    }

    private void dropStage() {
        var unused = client.acquireAsync("a");
    }

    private List<String> reports() {
        return warnings.said(FORGOTTEN);
    }

    /** Each with a collection of what nothing refers to. */
    private void overManyRenewals() {
        for (int i = 0; i < 6; i++) {
            System.gc();
            advance(LEASE.toMillis() / 2);
        }
    }
}
