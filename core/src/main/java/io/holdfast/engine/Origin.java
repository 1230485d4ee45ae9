package io.holdfast.engine;

import io.holdfast.LockTracer;
import org.jspecify.annotations.Nullable;

/**
 * Where a lease comes from, as far as the client was asked to remember it.
 *
 * @param place the place in the program; null unless {@link EngineSettings#tracesLeases} is set
 * @param traceParent the caller's trace; null without a {@link LockTracer}, or outside a trace
 */
public record Origin(@Nullable Throwable place, @Nullable String traceParent) {}
