/** The torture of {@code holdfast torture} for a peer. */
@NullMarked
package io.holdfast.bench.torture;

import org.jspecify.annotations.NullMarked;
