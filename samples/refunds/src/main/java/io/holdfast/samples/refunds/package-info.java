/** Refunds and reports of a shop with several instances. */
@NullMarked
package io.holdfast.samples.refunds;

import org.jspecify.annotations.NullMarked;
