/**
 * The in-process store, and a time that moves only on demand: for tests, simulations, and applications of one process.
 */
@NullMarked
package io.holdfast.memory;

import org.jspecify.annotations.NullMarked;
