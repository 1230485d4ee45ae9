/**
 * The command {@code holdfast}: {@code exec} runs a program under a lock, {@code demo} shows the lock at work, {@code
 * inspect} and {@code release} are for the operator.
 *
 * <p>Start at {@link io.holdfast.cli.Main}. A command says what is wrong by an exception; {@code Failures} turns it into
 * one line on standard error and an exit code.
 */
@NullMarked
package io.holdfast.cli;

import org.jspecify.annotations.NullMarked;
