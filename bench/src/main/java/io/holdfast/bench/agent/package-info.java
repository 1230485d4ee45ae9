/** The code of the measured child processes: the loops that lock and unlock. */
@NullMarked
package io.holdfast.bench.agent;

import org.jspecify.annotations.NullMarked;
