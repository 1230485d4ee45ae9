/** Meters of a client's locks: {@link io.holdfast.micrometer.HoldfastMetrics}. */
@NullMarked
package io.holdfast.micrometer;

import org.jspecify.annotations.NullMarked;
