/**
 * What a Redis server is to a store: its settings and URI, TLS files, keys and slots, its clock, and the errors it answers. Knows no
 * connection.
 */
@NullMarked
package io.holdfast.redis.server;

import org.jspecify.annotations.NullMarked;
