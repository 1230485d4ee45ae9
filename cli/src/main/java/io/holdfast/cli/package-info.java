/**
 * The command {@code holdfast}. Start at {@link io.holdfast.cli.Main}: it hands the arguments to a command. A command
 * says what is wrong by an exception; {@code Failures} turns the exception into one line on standard error and an exit
 * code.
 */
@NullMarked
package io.holdfast.cli;

import org.jspecify.annotations.NullMarked;
