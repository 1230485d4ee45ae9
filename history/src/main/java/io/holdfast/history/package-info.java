/**
 * Recorded histories of lock use, and the checks that tell a lock that works from one that does not.
 *
 * <p>The simulation, the tests on real servers and {@code holdfast torture} record the same {@linkplain
 * io.holdfast.history.Event events}; {@link io.holdfast.history.HistoryChecker} reads them, also from files. Nothing here
 * depends on Holdfast: histories of other locks are checked by the same code.
 */
@NullMarked
package io.holdfast.history;

import org.jspecify.annotations.NullMarked;
