package io.holdfast.opentelemetry;

import io.holdfast.LockListener;
import io.holdfast.LockTracer;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.TextMapGetter;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Makes a span {@code lock wait} of each wait for a lock from 5 ms on, as a child of the caller's span. The span links
 * to the one in which the holder acquired the lock. The holder may be in another process; the link is there if that
 * process has this tracer too, and its client's card has the hold, which it has after some seconds. {@code
 * docs/metrics.md} has the table of attributes.
 *
 * <pre>{@code
 * LockClient locks = LockClient.builder()
 *         .uri(uri)
 *         .tracer(new HoldfastTracing(openTelemetry))
 *         .build();
 * }</pre>
 *
 * <p>The caller's span is the current one of its thread when it asks for the lock. Several clients may share one
 * instance. Thread-safe.
 */
public final class HoldfastTracing implements LockTracer {

    private static final String SPAN = "lock wait";
    private static final AttributeKey<String> NAME = AttributeKey.stringKey("holdfast.lock.name");
    private static final AttributeKey<String> OUTCOME = AttributeKey.stringKey("holdfast.lock.outcome");
    private static final AttributeKey<String> HOLDER = AttributeKey.stringKey("holdfast.lock.holder");
    private static final AttributeKey<String> TOKEN = AttributeKey.stringKey("holdfast.lock.fencing_token");

    /** The header whose text a card has. */
    private static final String TRACE_PARENT = "traceparent";

    private static final TextMapGetter<String> HEADER = new TextMapGetter<>() {

        @Override
        public Iterable<String> keys(String text) {
            return List.of(TRACE_PARENT);
        }

        @Override
        public @Nullable String get(@Nullable String text, String key) {
            return TRACE_PARENT.equals(key) ? text : null;
        }
    };

    private final Tracer tracer;

    /** Makes a tracer whose spans go where this instance sends them. */
    public HoldfastTracing(OpenTelemetry openTelemetry) {
        this.tracer = openTelemetry.getTracer("io.holdfast");
    }

    @Override
    public Acquisition begin(String name) {
        return new Followed(Context.current());
    }

    private final class Followed implements Acquisition {

        /** The context in which the caller asked for the lock. */
        private final Context caller;

        Followed(Context caller) {
            this.caller = caller;
        }

        /** Returns null outside a trace, and for a trace that nobody records. */
        @Override
        public @Nullable String traceParent() {
            if (!Span.fromContext(caller).getSpanContext().isSampled()) {
                return null;
            }
            AtomicReference<String> text = new AtomicReference<>();
            W3CTraceContextPropagator.getInstance().inject(caller, text, (carrier, key, value) -> {
                if (TRACE_PARENT.equals(key) && carrier != null) {
                    carrier.set(value);
                }
            });
            return text.get();
        }

        @Override
        public void ended(Wait wait) {
            SpanBuilder builder = tracer.spanBuilder(SPAN)
                    .setParent(caller)
                    .setStartTimestamp(wait.began())
                    .setAttribute(NAME, wait.name())
                    .setAttribute(OUTCOME, outcome(wait));
            wait.holder().ifPresent(holder -> builder.setAttribute(HOLDER, holder));
            wait.holderTraceParent().flatMap(HoldfastTracing::spanOf).ifPresent(builder::addLink);
            if (wait.fencingToken() != 0) {
                // A token needs 63 bits, and many programs read a number as a double.
                builder.setAttribute(TOKEN, Long.toString(wait.fencingToken()));
            }
            Span span = builder.startSpan();
            if (wait.failure().filter(LockListener.Outcome.FAILED::equals).isPresent()) {
                span.setStatus(StatusCode.ERROR);
            }
            span.end(wait.began().plus(wait.waited()));
        }
    }

    private static String outcome(Wait wait) {
        return wait.failure().map(how -> how.name().toLowerCase(Locale.ROOT)).orElse("acquired");
    }

    private static Optional<SpanContext> spanOf(String traceParent) {
        Context found = W3CTraceContextPropagator.getInstance().extract(Context.root(), traceParent, HEADER);
        return Optional.of(Span.fromContext(found).getSpanContext()).filter(SpanContext::isValid);
    }
}
