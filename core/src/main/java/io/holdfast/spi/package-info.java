/**
 * The contract of a store, the remote authority on lock names.
 *
 * <p>A store is a small set of asynchronous commands, each safe when it arrives late and when it arrives twice.
 * Waiting, renewal, deadlines, local queues and reentrancy belong to the engine in {@code io.holdfast}; a store neither
 * parks a thread nor keeps a timer for a lock. Nothing in this package knows the API or the engine.
 */
@NullMarked
package io.holdfast.spi;

import org.jspecify.annotations.NullMarked;
