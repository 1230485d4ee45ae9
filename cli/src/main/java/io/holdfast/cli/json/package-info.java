/** Writes JSON, for the commands that have the option {@code --json}. */
@NullMarked
package io.holdfast.cli.json;

import org.jspecify.annotations.NullMarked;
