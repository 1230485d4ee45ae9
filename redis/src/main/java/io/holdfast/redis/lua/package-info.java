/**
 * The store of mode {@code lua}: the scripts (resources of this package), their arguments and their replies. The
 * scripts contain the rules of exclusion; the Java side keeps no state of a lock.
 *
 * <p>This is the path of a command to the server and of its reply, in order.
 *
 * <pre>
 *  1  LuaLockStore         one method for each command of a store; a view of the same class is the store of pools
 *  2  NameKind               which scripts and keys: those of a lock, or those of a pool
 *     LuaAcquires            the arguments of an acquire, and what its reply means
 *  3  ServerClock            the time after which the server is to refuse an acquire
 *  4  Subscriptions          whether grants arrive here; if not, the first acquire asks for no place in the queue
 *  5  RedissonSeen           whether clients of Redisson wait, so that the script is to count them
 *     AcquireAllScript     several locks by one command, BatchRenewals many holds by one
 *     ReplicatedAcquires   with minReplicas: the acquire and the wait for replicas, on connections of their own
 *  6  Scripts              runs a script by its digest, and again if the server has forgotten the script
 *  7  LuaScript            the text: parts in an order, the short path first
 *  8  ScriptHead             what differs by server, before the parts that notify other clients
 *  9  ScriptArgs           keys and arguments as they go over the wire
 * 10  acquire.lua …        the rules; the head of each script documents arguments and result
 * 11  ScriptReply          reads the result, element by element
 * 12  AcquireRefusals      turns a refusal into an error; Hints tells waiters what a silent script could not
 * </pre>
 */
@NullMarked
package io.holdfast.redis.lua;

import org.jspecify.annotations.NullMarked;
