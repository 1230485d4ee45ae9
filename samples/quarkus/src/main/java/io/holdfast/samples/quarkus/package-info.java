/** A Quarkus application whose processes share a lock. */
@NullMarked
package io.holdfast.samples.quarkus;

import org.jspecify.annotations.NullMarked;
