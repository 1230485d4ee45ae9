/** The torture of {@code holdfast torture}, done to a peer. */
@NullMarked
package io.holdfast.bench.torture;

import org.jspecify.annotations.NullMarked;
