/**
 * Formal models: every state that a protocol can reach within small bounds is looked at, over the same pure functions
 * that the simulation runs.
 */
@NullMarked
package io.holdfast.verify.model;

import org.jspecify.annotations.NullMarked;
