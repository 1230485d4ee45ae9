/**
 * Describes a Redis server to a store: settings and URI, TLS files, keys and slots, the server's clock, and its errors.
 * This package knows no connections.
 */
@NullMarked
package io.holdfast.redis.server;

import org.jspecify.annotations.NullMarked;
