/** In-process figures: the cost of the engine itself, over the memory store. */
@NullMarked
package io.holdfast.bench.jmh;

import org.jspecify.annotations.NullMarked;
