/**
 * Shows text on a terminal: columns, colours, widths, and a screen that is drawn again. Everything that is shown is
 * somebody else's data, so control characters are escaped here.
 */
@NullMarked
package io.holdfast.cli.screen;

import org.jspecify.annotations.NullMarked;
