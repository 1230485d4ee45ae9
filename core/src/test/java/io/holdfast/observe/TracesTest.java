package io.holdfast.observe;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.CardDetail;
import io.holdfast.Inside;
import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockListener;
import io.holdfast.LockTracer;
import io.holdfast.LockTracer.Wait;
import io.holdfast.MultiLease;
import io.holdfast.engine.EngineFixture;
import io.holdfast.engine.ProbeStore;
import io.holdfast.engine.Warnings;
import io.holdfast.spi.CardStore;
import java.lang.reflect.Proxy;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What a tracer hears, and the trace of a holder on its client's card. */
class TracesTest extends EngineFixture {

    private static final String HOLDERS = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    private static final String WAITERS = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    private static final long PERIOD = 5_000;

    /** The trace of callers at present. */
    private @Nullable String trace;

    private final List<Wait> told = new ArrayList<>();
    private final LockTracer tracer = name -> new LockTracer.Acquisition() {

        private final @Nullable String mine = trace;

        @Override
        public @Nullable String traceParent() {
            return mine;
        }

        @Override
        public void ended(Wait wait) {
            told.add(wait);
        }
    };

    private final LockClient holding = traced("hf-h", tracer);
    private int cardsRead;
    private final LockClient waiting = client("hf-w", counting(probe("hf-w")), settings -> settings.tracer = tracer);

    private ProbeStore counting(ProbeStore store) {
        CardStore cards = store.server.cards().orElseThrow();
        store.cards = (CardStore) Proxy.newProxyInstance(
                CardStore.class.getClassLoader(), new Class<?>[] {CardStore.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("read") && arguments != null) {
                        cardsRead++;
                    }
                    return method.invoke(cards, arguments);
                });
        return store;
    }

    private LockClient traced(String id, LockTracer by) {
        return client(id, probe(id), settings -> {
            settings.tracer = by;
            settings.clientName = "billing";
            settings.host = "pod-7";
            settings.pid = 4711;
        });
    }

    /** Returns a lease on "a" that is on its client's card, with the trace in which it was acquired. */
    private Lease heldInATrace() {
        trace = HOLDERS;
        Lease lease = holding.tryAcquire("a").orElseThrow();
        advance(2 * PERIOD);
        return lease;
    }

    @Override
    protected CardDetail cards() {
        return CardDetail.NAMES;
    }

    @Test
    void a_wait_for_another_client_leads_to_the_trace_in_which_that_acquired() {
        Lease lease = heldInATrace();
        trace = WAITERS;
        Instant began = Instant.ofEpochMilli(time.wallMillis());
        CompletableFuture<Lease> wait = acquire(waiting, "a");
        advance(700);
        assertThat(told).isEmpty();
        lease.release();
        advance(1);

        long token = now(wait).fencingToken();
        assertThat(told)
                .containsExactly(new Wait(
                        "a",
                        began,
                        ofMillis(700),
                        Optional.empty(),
                        token,
                        Optional.of("billing@pod-7 (pid 4711)"),
                        Optional.of(HOLDERS)));
        wait.join().release();
    }

    @Test
    void a_holder_that_ends_its_process_leaves_its_trace_to_those_who_wait() {
        trace = HOLDERS;
        Lease lease = holding.tryAcquire("a").orElseThrow();
        CompletableFuture<Lease> wait = acquire(waiting, "a"); // before any card has the hold
        advance(2 * PERIOD);
        Inside.engine(holding).closeAsync();
        assertThat(lease.isValid()).isFalse();
        advance(1);
        assertThat(waiting.cards()).noneMatch(card -> card.id().equals("hf-h"));
        assertThat(told).hasSize(1);
        assertThat(told.get(0).holder()).contains("billing@pod-7 (pid 4711)");
        assertThat(told.get(0).holderTraceParent()).contains(HOLDERS);
        now(wait).release();
    }

    @Test
    void a_card_is_read_once_for_many_waits() {
        Lease lease = heldInATrace();
        List<CompletableFuture<Lease>> waits = new ArrayList<>();
        int before = cardsRead;
        for (int i = 0; i < 50; i++) {
            waits.add(acquire(waiting, "a", DEFAULTS.waitAtMost(ofMillis(500))));
        }
        advance(500);
        assertThat(told)
                .hasSize(50)
                .allSatisfy(wait -> assertThat(wait.holderTraceParent()).contains(HOLDERS));
        assertThat(cardsRead - before).isEqualTo(1);
        assertThat(waits).allSatisfy(wait -> assertThat(wait).isCompletedExceptionally());
        lease.release();
    }

    @Test
    void a_wait_that_timed_out_leads_there_too() {
        Lease lease = heldInATrace();
        trace = null;
        CompletableFuture<Lease> wait = acquire(waiting, "a", DEFAULTS.waitAtMost(ofMillis(300)));
        advance(300);
        assertThat(wait).isCompletedExceptionally();
        assertThat(told).hasSize(1);
        assertThat(told.get(0).failure()).contains(LockListener.Outcome.TIMED_OUT);
        assertThat(told.get(0).fencingToken()).isZero();
        assertThat(told.get(0).holderTraceParent()).contains(HOLDERS);
        lease.release();
    }

    @Test
    void a_wait_for_a_caller_of_the_same_client_needs_no_card() {
        trace = HOLDERS;
        Lease lease = waiting.tryAcquire("a").orElseThrow();
        trace = WAITERS;
        CompletableFuture<Lease> wait = acquire(waiting, "a");
        advance(20);
        lease.release();
        assertThat(told).hasSize(1);
        assertThat(told.get(0).holder()).contains("this client");
        assertThat(told.get(0).holderTraceParent()).contains(HOLDERS);
        now(wait).release();
    }

    @Test
    void of_a_hold_that_is_not_on_the_card_no_trace_is_known() {
        advance(2 * PERIOD);
        trace = HOLDERS;
        Lease before = holding.tryAcquire("a").orElseThrow();
        advance(PERIOD);
        before.release();
        Lease lease = holding.tryAcquire("a").orElseThrow(); // the card shows the hold before
        CompletableFuture<Lease> wait = acquire(waiting, "a");
        advance(50);
        lease.release();
        advance(1);
        assertThat(told).hasSize(1);
        assertThat(told.get(0).holder()).contains("billing@pod-7 (pid 4711)");
        assertThat(told.get(0).holderTraceParent()).isEmpty();
        now(wait).release();
    }

    @Test
    void a_client_without_cards_reads_none_and_names_the_holder_by_its_id() {
        LockClient silent = client("hf-s", counting(probe("hf-s")), settings -> {
            settings.tracer = tracer;
            settings.cards = CardDetail.OFF;
        });
        Lease lease = heldInATrace();
        CompletableFuture<Lease> wait = acquire(silent, "a");
        advance(700);
        lease.release();
        advance(1);
        assertThat(cardsRead).isZero();
        assertThat(told).hasSize(1);
        assertThat(told.get(0).holder()).contains('"' + lease.holderId() + '"');
        assertThat(told.get(0).holderTraceParent()).isEmpty();
        now(wait).release();
    }

    @Test
    void short_waits_are_not_told_and_read_nothing() {
        Lease lease = holding.tryAcquire("a").orElseThrow();
        advance(2 * PERIOD);
        assertThat(waiting.tryAcquire("a")).isEmpty();
        waiting.tryAcquire("b").orElseThrow().release();
        assertThat(told).isEmpty();
        assertThat(cardsRead).isZero();
        lease.release();
    }

    @Test
    void a_trace_in_another_form_is_not_written() {
        trace = "secret";
        Lease lease = holding.tryAcquire("a").orElseThrow();
        advance(2 * PERIOD);
        assertThat(waiting.cards())
                .filteredOn(card -> card.id().equals("hf-h"))
                .singleElement()
                .satisfies(card ->
                        assertThat(card.hold("a").orElseThrow().traceParent()).isEmpty());
        lease.release();
    }

    @Test
    void several_names_by_one_command_have_the_trace_of_their_caller() throws Exception {
        ProbeStore together = probe("hf-t");
        together.together = true;
        LockClient client = client("hf-t", together, settings -> settings.tracer = tracer);
        trace = HOLDERS;
        MultiLease leases = client.tryAcquireAll(List.of("a", "b"), DEFAULTS).orElseThrow();
        assertThat(together.commands).anyMatch(command -> command.contains("together"));
        advance(2 * PERIOD);
        assertThat(waiting.inspect("b")
                        .holderCard()
                        .orElseThrow()
                        .hold("b")
                        .orElseThrow()
                        .traceParent())
                .contains(HOLDERS);
        leases.release();
    }

    @Test
    void a_tracer_that_fails_costs_nobody_a_lock() throws Exception {
        LockClient client = traced("hf-x", name -> {
            throw new IllegalStateException("no tracer today");
        });
        try (Warnings log = new Warnings()) {
            client.acquire("a", DEFAULTS.waitAtMost(ofSeconds(1))).release();
            assertThat(log.said("A tracer failed")).hasSize(1);
        }
    }
}
