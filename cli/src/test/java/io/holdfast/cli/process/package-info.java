/** Tests of what the operating system is asked for. */
@NullMarked
package io.holdfast.cli.process;

import org.jspecify.annotations.NullMarked;
