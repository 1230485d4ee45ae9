/** What all commands share: where they write, how they fail, and what they exit with. */
@NullMarked
package io.holdfast.cli.console;

import org.jspecify.annotations.NullMarked;
