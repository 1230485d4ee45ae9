/** The lock clients that are compared, each behind the same small interface. */
@NullMarked
package io.holdfast.bench.peer;

import org.jspecify.annotations.NullMarked;
