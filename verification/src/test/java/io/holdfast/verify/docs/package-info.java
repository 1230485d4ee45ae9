/** Checks of the documentation. */
@NullMarked
package io.holdfast.verify.docs;

import org.jspecify.annotations.NullMarked;
