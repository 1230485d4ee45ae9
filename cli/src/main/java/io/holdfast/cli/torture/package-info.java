/** The workers of {@code holdfast torture}. */
@NullMarked
package io.holdfast.cli.torture;

import org.jspecify.annotations.NullMarked;
