/**
 * Locks in Redis or Valkey, through Lettuce. Users need a URI ({@link io.holdfast.redis.RedisLockStoreProvider}
 * describes it), or {@link io.holdfast.redis.RedisStores} for settings in code.
 *
 * <p>The packages below are not exported. Each knows only those after it: this package (the public API, and the opening
 * of a store or a member) → {@code member} → {@code lua}, {@code commands} → {@code connect} → {@code messages} →
 * {@code server}. The two enums {@link io.holdfast.redis.RedisMode} and {@link io.holdfast.redis.RedissonChannels} are
 * the exception: settings contain them.
 *
 * <p>This is the path of an opening, in order. The classes that read a URI and those that explain a failure are left
 * out.
 *
 * <pre>
 *  1  RedisLockStoreProvider  a URI becomes RedisSettings; RedisStores makes them in code
 *  2  RedisOpening            connects, probes, chooses the mode; repeats what Sentinels cut off
 *  3  OpeningSteps            waits for each step, and says why it failed
 *  4  ServerConnections       one server or Sentinel; ClusterConnections for a cluster
 *  5  Driver                  the threads, the options and the open channels of Lettuce
 *  6  RedisProbe              what the server lets this user do: scripts, commands, messages, keys of two slots
 *  7  ServerSubscriptions     the channel of this client; ClusterSubscriptions for a cluster
 *  8  LuaLockStore            the store of mode lua; CommandsOpening and CommandsLockStore that of mode commands
 *  9  KeyedStore              around it: from lock names to keys
 *
 *     RedlockProvider         opens a quorum: MemberOpening does steps 2 to 7 for each member
 * </pre>
 *
 * <p>And this is the path of a message, from a release by another client to a waiter here:
 *
 * <pre>
 *  1  release.lua             writes the next holder, and publishes "g …" on that client's channel
 *  2  ClientChannel           the connection for messages; NodeMessages in a cluster
 *  3  ServerSubscriptions     passes it on with the time since which one clock made all stamps
 *  4  RedisMessages           reads it: a grant, a waiting client, a loss by force
 *  5  StoreListener           the engine, through KeyedStore, which turns the key into the name
 * </pre>
 */
@NullMarked
package io.holdfast.redis;

import org.jspecify.annotations.NullMarked;
