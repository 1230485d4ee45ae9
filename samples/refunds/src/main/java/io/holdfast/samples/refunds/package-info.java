/** Makes refunds and reports in a shop with several instances. */
@NullMarked
package io.holdfast.samples.refunds;

import org.jspecify.annotations.NullMarked;
