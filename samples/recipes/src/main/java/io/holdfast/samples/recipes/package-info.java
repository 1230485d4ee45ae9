/** Contains one class for each recipe of {@code docs/recipes.md}. */
@NullMarked
package io.holdfast.samples.recipes;

import org.jspecify.annotations.NullMarked;
