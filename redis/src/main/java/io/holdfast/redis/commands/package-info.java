/**
 * The store of mode {@code commands}, which runs no scripts: native compare-and-delete where the server has it, {@code
 * WATCH} and {@code MULTI} elsewhere.
 */
@NullMarked
package io.holdfast.redis.commands;

import org.jspecify.annotations.NullMarked;
