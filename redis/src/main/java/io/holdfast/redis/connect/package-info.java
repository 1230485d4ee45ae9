/**
 * Connections: one server, Sentinel and Cluster; heartbeats, and the set-up of the driver. This package knows no locks.
 */
@NullMarked
package io.holdfast.redis.connect;

import org.jspecify.annotations.NullMarked;
