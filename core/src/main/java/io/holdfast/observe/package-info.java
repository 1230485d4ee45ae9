/**
 * What is seen of the engine: events for listeners and for the flight recorder, traces of waits, the client's card at
 * the store, and the log of losses, outages and long waits. {@code Observability} receives all events. Nothing here
 * changes what a lock does. Not exported: the public types are public for other packages of this module only.
 */
@NullMarked
package io.holdfast.observe;

import org.jspecify.annotations.NullMarked;
