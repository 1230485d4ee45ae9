package io.holdfast.opentelemetry;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.memory.MemoryLockStore;
import io.holdfast.memory.VirtualTime;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.testing.junit5.OpenTelemetryExtension;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.data.StatusData;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Spans of two clients of one store, as two processes would have them. */
class HoldfastTracingTest {

    private static final LockOptions DEFAULTS = LockOptions.defaults();

    @RegisterExtension
    static final OpenTelemetryExtension SPANS = OpenTelemetryExtension.create();

    private final OpenTelemetry openTelemetry = SPANS.getOpenTelemetry();
    private final Tracer application = openTelemetry.getTracer("application");
    private final VirtualTime time = new VirtualTime();
    private final MemoryLockStore.Server server = new MemoryLockStore.Server(time);
    private final LockClient holding = client("holding");
    private final LockClient waiting = client("waiting");

    private LockClient client(String name) {
        return LockClient.builder()
                .store(server::connect)
                .timeSource(time)
                .callbackExecutor(Runnable::run)
                .clientName(name)
                .tracer(new HoldfastTracing(openTelemetry))
                .build();
    }

    @AfterEach
    void close() {
        holding.close();
        waiting.close();
    }

    /** The code of docs/metrics.md. */
    @Test
    @Timeout(60)
    void the_code_of_the_page_traces_a_wait() throws Exception {
        String uri = "memory:page";
        LockClient locks = LockClient.builder()
                .uri(uri)
                .tracer(new HoldfastTracing(openTelemetry))
                .build();
        try (locks) {
            Lease held = locks.acquire("page");
            CompletableFuture<Lease> next = locks.acquireAsync("page").toCompletableFuture();
            Thread.sleep(20); // a wait of less than 5 ms makes no span
            held.release();
            assertThat(next.get(60, TimeUnit.SECONDS).isValid()).isTrue();
        }
        while (SPANS.getSpans().isEmpty()) { // the span ends on another thread
            Thread.sleep(1);
        }
        assertThat(attribute(waitSpan(), "holdfast.lock.name")).isEqualTo("page");
    }

    private CompletableFuture<Lease> acquire(LockOptions options) {
        return waiting.acquireAsync("refund", options).toCompletableFuture();
    }

    private Lease held() {
        Lease lease = holding.tryAcquire("refund").orElseThrow();
        time.advance(ofSeconds(11)); // the second card has it, too
        return lease;
    }

    private static SpanData waitSpan() {
        return SPANS.getSpans().stream()
                .filter(span -> span.getName().equals("lock wait"))
                .reduce((one, two) -> {
                    throw new AssertionError(one + " and " + two);
                })
                .orElseThrow();
    }

    private static String attribute(SpanData span, String key) {
        return span.getAttributes().get(AttributeKey.stringKey(key));
    }

    @Test
    void aWaitIsAChildOfItsCallersSpanAndLinksToTheHoldersSpan() {
        Span holders = application.spanBuilder("batch").startSpan();
        Lease lease = Context.current().with(holders).wrapSupplier(this::held).get();
        Span callers = application.spanBuilder("request").startSpan();
        CompletableFuture<Lease> wait = Context.current()
                .with(callers)
                .wrapSupplier(() -> acquire(DEFAULTS))
                .get();
        time.advance(ofMillis(640));
        lease.release();
        time.advance(ofMillis(1));

        SpanData span = waitSpan();
        assertThat(span.getParentSpanId()).isEqualTo(callers.getSpanContext().getSpanId());
        assertThat(span.getTraceId()).isEqualTo(callers.getSpanContext().getTraceId());
        assertThat(span.getLinks()).singleElement().satisfies(link -> {
            assertThat(link.getSpanContext().getTraceId())
                    .isEqualTo(holders.getSpanContext().getTraceId());
            assertThat(link.getSpanContext().getSpanId())
                    .isEqualTo(holders.getSpanContext().getSpanId());
        });
        assertThat(span.getEndEpochNanos() - span.getStartEpochNanos())
                .isEqualTo(ofMillis(640).toNanos());
        assertThat(attribute(span, "holdfast.lock.name")).isEqualTo("refund");
        assertThat(attribute(span, "holdfast.lock.outcome")).isEqualTo("acquired");
        assertThat(attribute(span, "holdfast.lock.holder")).startsWith("holding@");
        assertThat(attribute(span, "holdfast.lock.fencing_token"))
                .isEqualTo(Long.toString(wait.join().fencingToken()));
        wait.join().release();
    }

    @Test
    void aHolderOutsideATraceIsNamedWithoutALink() {
        Lease lease = held();
        CompletableFuture<Lease> wait = acquire(DEFAULTS.waitAtMost(ofMillis(200)));
        time.advance(ofMillis(200));
        assertThat(wait).isCompletedExceptionally();

        SpanData span = waitSpan();
        assertThat(span.getLinks()).isEmpty();
        assertThat(span.getStatus()).isEqualTo(StatusData.unset());
        assertThat(attribute(span, "holdfast.lock.outcome")).isEqualTo("timed_out");
        assertThat(attribute(span, "holdfast.lock.holder")).startsWith("holding@");
        lease.release();
    }

    @Test
    void aWaitThatFailedIsAnError() {
        Lease lease = held();
        CompletableFuture<Lease> wait = acquire(DEFAULTS);
        time.advance(ofMillis(10));
        waiting.close();
        assertThat(wait).isCompletedExceptionally();
        assertThat(waitSpan().getStatus()).isEqualTo(StatusData.error());
        assertThat(attribute(waitSpan(), "holdfast.lock.outcome")).isEqualTo("failed");
        lease.release();
    }

    @Test
    void aLockThatWasFreeHasNoSpan() {
        holding.tryAcquire("refund").orElseThrow().release();
        assertThat(SPANS.getSpans()).isEmpty();
    }
}
