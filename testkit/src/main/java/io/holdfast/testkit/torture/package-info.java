/**
 * A torture for locks: several processes use a few locks at random while processes are killed and paused and servers and
 * connections fail; everything is recorded, and the history is checked. For any lock: see {@link
 * io.holdfast.testkit.torture.TortureLock}.
 */
@NullMarked
package io.holdfast.testkit.torture;

import org.jspecify.annotations.NullMarked;
