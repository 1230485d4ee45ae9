@file:JvmName("Locks")

package io.holdfast.kotlin

import io.holdfast.Lease
import io.holdfast.LeaseLostException
import io.holdfast.LockClient
import io.holdfast.LockOptions
import io.holdfast.LockTimeoutException
import io.holdfast.Permits
import java.util.concurrent.CompletionStage
import kotlin.time.Duration
import kotlin.time.toJavaDuration
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.cancel
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.future.await
import kotlinx.coroutines.isActive
import kotlinx.coroutines.withContext

/**
 * Runs [block] under the lock on [name], and returns its result. Suspends until the lock is acquired, for at most
 * [LockOptions.waitAtMost], or as long as needed without that option. No thread waits, and the block may change
 * threads.
 *
 * The block runs in a scope of its own, as that of `coroutineScope` does: this function returns when the coroutines
 * that the block has started have ended, and only then releases the lock. The release is not cancelled with the
 * coroutine.
 *
 * - **Cancellation** during the wait withdraws the wait: nothing stays locked. Cancellation of the block releases the
 *   lock when the block has ended.
 * - **A lost lease** cancels the scope of the block, with the [LeaseLostException] as cause. This function then throws
 *   that exception, even if the block has returned a result. An exception of the block's own comes first; it has the
 *   loss among the suppressed ones.
 * - **A nested call** on a name that the coroutine holds already runs under the same lease. Its options have no effect.
 *   So do calls by coroutines that the block has started: they do not exclude one another on this name.
 *
 * A `DistributedLock` belongs to a thread, so it is of no use in a suspending function.
 *
 * @param name not blank, at most 1,024 bytes of UTF-8
 * @throws LockTimeoutException if the wait time passed
 * @throws io.holdfast.LockStoreException if the store failed
 * @throws LeaseLostException if the lease was lost before the block had ended
 * @throws IllegalArgumentException if the name is not a valid one
 */
public suspend fun <T> LockClient.withLock(
    name: String,
    options: LockOptions = LockOptions.defaults(),
    block: suspend CoroutineScope.(Lease) -> T,
): T {
    val held = findHeld(name) ?: hold(acquireAsync(name, options.leftAtClose()).awaitOrWithdraw { it })
    return held.run(block)
}

/** Runs [block] under the lock on [name], after a wait of at most [wait]; zero means one attempt. */
public suspend fun <T> LockClient.withLock(
    name: String,
    wait: Duration,
    block: suspend CoroutineScope.(Lease) -> T,
): T = withLock(name, LockOptions.defaults().waitAtMost(wait.toJavaDuration()), block)

/**
 * Runs [block] as [withLock] does if the lock can be acquired within [LockOptions.waitAtMost]; without that option, if
 * it is free now. Returns null if it is busy. The result of the block is never null, so null has no second meaning.
 *
 * @throws io.holdfast.LockStoreException if the store failed: that is not the same as a busy lock
 */
public suspend fun <T : Any> LockClient.tryWithLock(
    name: String,
    options: LockOptions = LockOptions.defaults(),
    block: suspend CoroutineScope.(Lease) -> T,
): T? {
    val held = findHeld(name)
        ?: tryAcquireAsync(name, options.leftAtClose()).awaitOrWithdraw { it.orElse(null) }?.let { hold(it) }
    return held?.run(block)
}

/** Runs [block] as [withLock] does if the lock can be acquired within [wait]. Returns null if it is busy. */
public suspend fun <T : Any> LockClient.tryWithLock(
    name: String,
    wait: Duration,
    block: suspend CoroutineScope.(Lease) -> T,
): T? = tryWithLock(name, LockOptions.defaults().waitAtMost(wait.toJavaDuration()), block)

/**
 * Runs [block] under a permit, or under as many as [Permits.weight] says, and returns its result. Cancellation, a lost
 * lease and the scope of the block are as for [withLock].
 *
 * Not reentrant: a nested call acquires one more permit, and may so wait for itself.
 *
 * @throws LockTimeoutException if the wait time passed
 * @throws io.holdfast.LockStoreException if the store failed, or has no permits
 * @throws LeaseLostException if the permit was lost before the block had ended
 */
public suspend fun <T> Permits.withPermit(
    options: LockOptions = LockOptions.defaults(),
    block: suspend CoroutineScope.(Lease) -> T,
): T = holdShare(acquireAsync(options.leftAtClose()).awaitOrWithdraw { it }).run(block)

/** Runs [block] under a permit, after a wait of at most [wait]; zero means one attempt. */
public suspend fun <T> Permits.withPermit(
    wait: Duration,
    block: suspend CoroutineScope.(Lease) -> T,
): T = withPermit(LockOptions.defaults().waitAtMost(wait.toJavaDuration()), block)

/**
 * Runs [block] as [withPermit] does if a permit can be acquired within [LockOptions.waitAtMost]; without that option, if
 * it can be acquired now. Returns null if it cannot.
 *
 * @throws io.holdfast.LockStoreException if the store failed, or has no permits
 */
public suspend fun <T : Any> Permits.tryWithPermit(
    options: LockOptions = LockOptions.defaults(),
    block: suspend CoroutineScope.(Lease) -> T,
): T? = tryAcquireAsync(options.leftAtClose()).awaitOrWithdraw { it.orElse(null) }?.let { holdShare(it).run(block) }

/** Runs [block] as [withPermit] does if a permit can be acquired within [wait]. Returns null if it cannot. */
public suspend fun <T : Any> Permits.tryWithPermit(
    wait: Duration,
    block: suspend CoroutineScope.(Lease) -> T,
): T? = tryWithPermit(LockOptions.defaults().waitAtMost(wait.toJavaDuration()), block)

/**
 * Runs [block] as a reader of the read-write lock [name], and returns its result. Many readers run at a time, and no
 * writer. Cancellation, a lost lease and the scope of the block are as for [withLock].
 *
 * Not reentrant: a nested call behind a writer that waits waits for itself. So does a nested [withWriteLock].
 *
 * @throws LockTimeoutException if the wait time passed
 * @throws io.holdfast.LockStoreException if the store failed, or has no read-write locks
 * @throws LeaseLostException if the lease was lost before the block had ended
 */
public suspend fun <T> LockClient.withReadLock(
    name: String,
    options: LockOptions = LockOptions.defaults(),
    block: suspend CoroutineScope.(Lease) -> T,
): T = holdShare(acquireReadAsync(name, options.leftAtClose()).awaitOrWithdraw { it }).run(block)

/** Runs [block] as a reader, after a wait of at most [wait]; zero means one attempt. */
public suspend fun <T> LockClient.withReadLock(
    name: String,
    wait: Duration,
    block: suspend CoroutineScope.(Lease) -> T,
): T = withReadLock(name, LockOptions.defaults().waitAtMost(wait.toJavaDuration()), block)

/**
 * Runs [block] as the only writer of the read-write lock [name], and returns its result. A writer that waits stops new
 * readers. Cancellation, a lost lease and the scope of the block are as for [withLock].
 *
 * Not reentrant: a nested call of this function or of [withReadLock] waits for itself.
 *
 * @throws LockTimeoutException if the wait time passed
 * @throws io.holdfast.LockStoreException if the store failed, or has no read-write locks
 * @throws LeaseLostException if the lease was lost before the block had ended
 */
public suspend fun <T> LockClient.withWriteLock(
    name: String,
    options: LockOptions = LockOptions.defaults(),
    block: suspend CoroutineScope.(Lease) -> T,
): T = holdShare(acquireWriteAsync(name, options.leftAtClose()).awaitOrWithdraw { it }).run(block)

/** Runs [block] as the only writer, after a wait of at most [wait]; zero means one attempt. */
public suspend fun <T> LockClient.withWriteLock(
    name: String,
    wait: Duration,
    block: suspend CoroutineScope.(Lease) -> T,
): T = withWriteLock(name, LockOptions.defaults().waitAtMost(wait.toJavaDuration()), block)

/** Permits and shares of a read-write lock are not reentrant, so nested calls do not find the lease. */
private suspend fun holdShare(lease: Lease): HeldLock = HeldLock(null, lease, currentCoroutineContext()[HeldLock])

private suspend fun LockClient.findHeld(name: String): HeldLock? =
    currentCoroutineContext()[HeldLock]?.enter(this, name)

private suspend fun LockClient.hold(lease: Lease): HeldLock = HeldLock(this, lease, currentCoroutineContext()[HeldLock])

/** Waits for the stage. A cancellation ends the stage, or releases the lease if that was granted at the same time. */
private suspend fun <V, L : Lease?> CompletionStage<V>.awaitOrWithdraw(lease: (V) -> L): L {
    try {
        return lease(await())
    } catch (e: CancellationException) {
        // Ends the stage if it has not ended; otherwise nobody else has seen its lease.
        toCompletableFuture().cancel(false)
        whenComplete { value, _ -> value?.let { lease(it)?.releaseAsync() } }
        throw e
    }
}

private suspend fun <T> HeldLock.run(block: suspend CoroutineScope.(Lease) -> T): T {
    val outcome = runCatching { runInScope(block) }
    val lost = withContext(NonCancellable) { leave() }
    val failure = outcome.exceptionOrNull()
    if (lost == null) {
        return outcome.getOrThrow()
    }
    // The cancellation of the scope is a consequence of the loss, unless the caller itself is cancelled.
    val isConsequence = failure == null || failure is CancellationException && currentCoroutineContext().isActive
    if (isConsequence) {
        throw lost.apply { failure?.let(::addSuppressed) }
    }
    throw failure.apply { addSuppressed(lost) }
}

private suspend fun <T> HeldLock.runInScope(block: suspend CoroutineScope.(Lease) -> T): T = withContext(this) {
    lease.onLost { loss()?.let { cancel(CancellationException(it.message, it)) } }
    // The callback of a lease that is lost already may come too late to keep the block from its beginning.
    lease.ensureValid()
    block(lease)
}
