/**
 * Reads and checks {@link io.holdfast.spring.Locked} and {@link io.holdfast.spring.Limited} declarations. Internal:
 * start at {@code OperationReader}.
 */
@NullMarked
package io.holdfast.spring.declaration;

import org.jspecify.annotations.NullMarked;
