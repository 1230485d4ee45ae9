/** The parent process: starts servers and children, runs the cases in interleaved rounds, collects figures. */
@NullMarked
package io.holdfast.bench.harness;

import org.jspecify.annotations.NullMarked;
