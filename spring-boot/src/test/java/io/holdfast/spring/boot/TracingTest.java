package io.holdfast.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockTracer;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** Spans of waits. */
class TracingTest {

    private final InMemorySpanExporter spans = InMemorySpanExporter.create();
    private final OpenTelemetrySdk openTelemetry = OpenTelemetrySdk.builder()
            .setTracerProvider(SdkTracerProvider.builder()
                    .addSpanProcessor(SimpleSpanProcessor.create(spans))
                    .build())
            .build();
    private final ApplicationContextRunner application =
            Contexts.memory("tracing").withConfiguration(AutoConfigurations.of(HoldfastTracingAutoConfiguration.class));

    private static void waitForALock(LockClient client) throws InterruptedException {
        Lease lease = client.acquire("report");
        CompletableFuture<Lease> waiting = client.acquireAsync("report").toCompletableFuture();
        Thread.sleep(20);
        lease.release();
        waiting.join().release();
    }

    @Test
    void the_client_makes_spans_if_there_is_open_telemetry() {
        application.withBean(OpenTelemetry.class, () -> openTelemetry).run(context -> {
            waitForALock(context.getBean(LockClient.class));
            await().untilAsserted(() -> assertThat(spans.getFinishedSpanItems())
                    .extracting(SpanData::getName)
                    .isNotEmpty()
                    .containsOnly("lock wait"));
        });
    }

    @Test
    void an_applications_own_tracer_counts() {
        List<String> followed = new CopyOnWriteArrayList<>();
        LockTracer own = name -> {
            followed.add(name);
            return null;
        };
        application
                .withBean(OpenTelemetry.class, () -> openTelemetry)
                .withBean(LockClientCustomizer.class, () -> builder -> builder.tracer(own))
                .run(context -> {
                    waitForALock(context.getBean(LockClient.class));
                    assertThat(followed).containsExactly("report", "report");
                    assertThat(spans.getFinishedSpanItems()).isEmpty();
                });
    }

    @Test
    void without_it_nothing_is_missing() {
        application.run(context -> waitForALock(context.getBean(LockClient.class)));
        application.withClassLoader(new FilteredClassLoader("io.opentelemetry")).run(context -> {
            assertThat(context).hasNotFailed().doesNotHaveBean("holdfastTracing");
            waitForALock(context.getBean(LockClient.class));
        });
    }
}
