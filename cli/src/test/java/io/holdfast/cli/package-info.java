/**
 * Tests of the command line: with real processes where signals, streams and exit codes matter, within this one
 * elsewhere.
 */
@NullMarked
package io.holdfast.cli;

import org.jspecify.annotations.NullMarked;
