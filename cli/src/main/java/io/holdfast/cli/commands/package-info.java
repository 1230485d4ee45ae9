/**
 * The commands of an operator: {@code exec} runs a program under a lock, {@code inspect} shows what the store knows of
 * a lock, {@code release} takes a lock away from its holder.
 */
@NullMarked
package io.holdfast.cli.commands;

import org.jspecify.annotations.NullMarked;
