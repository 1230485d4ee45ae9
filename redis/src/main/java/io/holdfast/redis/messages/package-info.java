/**
 * The messages between clients: the subscriptions to one server or to a cluster, what arrives there, and how scripts
 * send. This package knows no commands.
 */
@NullMarked
package io.holdfast.redis.messages;

import org.jspecify.annotations.NullMarked;
