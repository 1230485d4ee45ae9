/**
 * Locks by JMX, on request: {@link io.holdfast.jmx.LockManagement} registers a client. This package uses what every user
 * can use, and nothing of the engine.
 */
@NullMarked
package io.holdfast.jmx;

import org.jspecify.annotations.NullMarked;
