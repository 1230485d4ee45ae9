/**
 * Recorded histories of lock use, and the checks that find the violations of a lock that does not work.
 *
 * <p>The simulation, the tests on real servers and {@code holdfast torture} record the same {@linkplain
 * io.holdfast.history.Event events}; {@link io.holdfast.history.HistoryChecker} checks them, even from files. This
 * package does not depend on Holdfast: the same code checks histories of other locks.
 */
@NullMarked
package io.holdfast.history;

import org.jspecify.annotations.NullMarked;
