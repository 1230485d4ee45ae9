package io.holdfast.kotlin

import io.holdfast.Lease
import io.holdfast.LeaseLostException
import io.holdfast.LockClient
import java.util.concurrent.atomic.AtomicInteger
import kotlin.coroutines.AbstractCoroutineContextElement
import kotlin.coroutines.CoroutineContext
import kotlinx.coroutines.future.await

/**
 * A lease under which a coroutine runs, in the coroutine's context, for nested calls. A coroutine that was started with
 * this context in another scope may outlive the call that acquired the lease; so the last user releases it.
 *
 * @param client the client of a lock; null for permits, readers and writers: a nested call acquires its own
 * @property outer the lock under which this one was acquired
 */
internal class HeldLock(
    private val client: LockClient?,
    val lease: Lease,
    private val outer: HeldLock?,
) : AbstractCoroutineContextElement(HeldLock) {

    companion object Key : CoroutineContext.Key<HeldLock>

    /** Starts with the call that acquired the lease. Zero is final: the lease is released, or about to be. */
    private val users = AtomicInteger(1)

    /** Enters the lock on this name, if that is this one or one around it; the caller then must [leave] it. */
    fun enter(client: LockClient, name: String): HeldLock? =
        if (client === this.client && name == lease.name() && enter()) this else outer?.enter(client, name)

    private fun enter(): Boolean = users.getAndUpdate { if (it == 0) 0 else it + 1 } > 0

    /** Ends a use. The last one releases the lease. Returns the loss of the lease, or null. */
    suspend fun leave(): LeaseLostException? {
        if (users.decrementAndGet() > 0) {
            return loss()
        }
        return try {
            lease.releaseAsync().await()
            null
        } catch (e: LeaseLostException) {
            e
        }
    }

    /** Returns the loss of the lease, or null. Only for a user of it. */
    fun loss(): LeaseLostException? =
        try {
            lease.ensureValid()
            null
        } catch (e: LeaseLostException) {
            e
        }
}
