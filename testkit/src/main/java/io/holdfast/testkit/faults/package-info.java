/**
 * A proxy that breaks the network between a client and a server, see {@link io.holdfast.testkit.faults.FaultProxy}. This
 * package needs no test library.
 */
@NullMarked
package io.holdfast.testkit.faults;

import org.jspecify.annotations.NullMarked;
