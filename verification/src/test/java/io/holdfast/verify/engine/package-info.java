/**
 * Plays whole histories of the real engine under virtual time and checks them; a seed decides a whole history. Each
 * kind of store has a room beside this one with its {@link io.holdfast.verify.engine.SimSite}; this room knows none of
 * them.
 *
 * <p>What the product keeps to its packages is opened by one gateway in each: {@code VerifyEngine}, {@code
 * VerifyRedis}, {@code VerifyQuorum} and {@code VerifyZooKeeper}.
 */
@NullMarked
package io.holdfast.verify.engine;

import org.jspecify.annotations.NullMarked;
