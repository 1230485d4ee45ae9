/** Tests of the commands' parts. */
@NullMarked
package io.holdfast.cli.commands;

import org.jspecify.annotations.NullMarked;
