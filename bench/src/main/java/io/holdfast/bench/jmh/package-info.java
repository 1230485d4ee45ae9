/** In-process figures: what the engine itself costs, over the memory store. */
@NullMarked
package io.holdfast.bench.jmh;

import org.jspecify.annotations.NullMarked;
