/** Spans of waits for locks: {@link io.holdfast.opentelemetry.HoldfastTracing}. */
@NullMarked
package io.holdfast.opentelemetry;

import org.jspecify.annotations.NullMarked;
