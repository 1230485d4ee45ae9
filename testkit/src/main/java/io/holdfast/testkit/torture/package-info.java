/**
 * A torture test for locks: several processes use a few locks at random while processes are killed and paused and
 * servers and connections fail. The torture records all events and checks the history. It works for any lock: see
 * {@link io.holdfast.testkit.torture.TortureLock}.
 */
@NullMarked
package io.holdfast.testkit.torture;

import org.jspecify.annotations.NullMarked;
