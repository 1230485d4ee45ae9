/** Tests of the text on a terminal. */
@NullMarked
package io.holdfast.cli.screen;

import org.jspecify.annotations.NullMarked;
