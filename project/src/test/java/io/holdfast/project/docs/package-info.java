/** Checks of the documentation. */
@NullMarked
package io.holdfast.project.docs;

import org.jspecify.annotations.NullMarked;
