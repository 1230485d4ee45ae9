/**
 * The demonstration: real processes, a real server, and scenes that would go wrong without the lock.
 *
 * <p>{@code Demo} plays the {@code Scene}s. The actors are processes of their own ({@code WorkerProcess} here, {@code
 * DemoWorker} there, one line of text for each request and reply). What they compete for is the {@code Shop} in this
 * process: a little server whose single operations are harmless and whose sequences of operations race.
 */
@NullMarked
package io.holdfast.demo.scenes;

import org.jspecify.annotations.NullMarked;
