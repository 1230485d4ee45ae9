/** The workers of {@code holdfast torture}. */
@NullMarked
package io.holdfast.demo.torture;

import org.jspecify.annotations.NullMarked;
