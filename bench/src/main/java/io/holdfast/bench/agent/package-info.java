/** What runs in the measured child processes: the loops that take and give back locks. */
@NullMarked
package io.holdfast.bench.agent;

import org.jspecify.annotations.NullMarked;
