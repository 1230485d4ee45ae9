/** The code of {@code docs/getting-started.md}. */
@NullMarked
package io.holdfast.samples.start;

import org.jspecify.annotations.NullMarked;
