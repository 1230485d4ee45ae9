/**
 * How the engine and its observers write to the log: one logger, lines at a bounded rate, and names in quotes. Not
 * exported: the public types are public for other packages of this module only.
 */
@NullMarked
package io.holdfast.log;

import org.jspecify.annotations.NullMarked;
