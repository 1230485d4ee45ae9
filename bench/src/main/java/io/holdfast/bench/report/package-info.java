/** Turns the figures of a run into tables, goals and plots. */
@NullMarked
package io.holdfast.bench.report;

import org.jspecify.annotations.NullMarked;
