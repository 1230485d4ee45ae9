/** Spans of waits for locks, for OpenTelemetry. */
module io.holdfast.opentelemetry {
    requires transitive io.holdfast.core;
    requires transitive io.opentelemetry.api;
    requires io.opentelemetry.context;
    requires static transitive org.jspecify;

    exports io.holdfast.opentelemetry;
}
