package io.holdfast.spring

import io.holdfast.Lease
import io.holdfast.LeaseLostException
import io.holdfast.LockClient
import io.holdfast.LockTimeoutException
import io.holdfast.OnceConflictException
import io.holdfast.Term
import io.holdfast.spring.boot.Contexts
import java.util.concurrent.CancellationException
import java.util.concurrent.CopyOnWriteArrayList
import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.locks.LockSupport
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.joinAll
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext
import kotlinx.coroutines.withTimeout
import kotlinx.coroutines.yield
import org.assertj.core.api.Assertions.assertThat
import org.junit.jupiter.api.Test
import org.springframework.boot.autoconfigure.AutoConfigurations

/** Suspending functions behind a proxy. */
class SuspendingTest {

    open class Work(private val template: LockTemplate) {

        lateinit var self: Work

        @Locked(name = "a", key = ["#id"], waitTime = "5s")
        open suspend fun locked(id: Long, lease: Lease = Locked.LEASE, block: suspend (Lease) -> String): String =
            block(lease)

        @Locked(name = "a", key = ["#id"], waitTime = "50ms")
        open suspend fun impatient(id: Long): String = "ran"

        @Locked(name = "a:1", waitTime = "0", onBusy = OnBusy.SKIP)
        open suspend fun skipped(): String? = "ran"

        @Locked(name = "a:1", waitTime = "0", onBusy = OnBusy.SKIP)
        open suspend fun skippedUnit() {
            calls.incrementAndGet()
        }

        @Locked(name = "a", key = ["#id"], waitTime = "0", fallback = "instead")
        open suspend fun replaced(id: Long): String = "ran"

        suspend fun instead(id: Long): String {
            yield()
            return "instead of $id"
        }

        @Locked(name = "a", key = ["#id"], waitTime = "0", fallback = "insteadPlain")
        open suspend fun replacedPlain(id: Long): String = "ran"

        fun insteadPlain(id: Long): String = "plain instead of $id"

        @Locked(name = "a", key = ["#id"], waitTime = "0", fallback = "insteadShort")
        open suspend fun replacedShort(id: Long): String = "ran"

        suspend fun insteadShort(): String = "short"

        @Locked(name = "a:1", waitTime = "0")
        open fun blocking(): String = template.execute<String, RuntimeException>("a:1") { "ran" }

        @Limited(name = "a", key = ["#id"], permits = "1", waitTime = "0")
        @Locked(name = "a", key = ["#id"], waitTime = "50ms")
        open suspend fun both(id: Long, lease: Lease = Locked.LEASE, block: suspend (Lease) -> String): String =
            block(lease)

        @Limited(name = "a", key = ["#id"], permits = "1", waitTime = "0")
        open suspend fun limited(id: Long): String = "ran"

        open suspend fun byThis(): String = locked(1) { lease -> lease.name() }

        open val calls = AtomicInteger()
    }

    open class Leading {

        @Leader("suspended")
        open suspend fun led(term: Term? = null, block: suspend (Term) -> String): String? = block(term!!)
    }

    open class Payments {

        @Idempotent(name = "pay", key = ["#id"], record = OnceRecord.STORE_AT_LEAST_ONCE)
        open suspend fun pay(id: Long, items: List<String>): List<Long> {
            yield()
            check(items.isNotEmpty())
            return listOf(runs.incrementAndGet().toLong())
        }

        @Idempotent(name = "unit", key = ["#id"], record = OnceRecord.STORE_AT_LEAST_ONCE)
        open suspend fun unit(id: Long) {
            yield()
            runs.incrementAndGet()
        }

        open val runs = AtomicInteger()
    }

    @Test
    fun `a suspending function runs once and its result is stored`() = test("once", Payments::class.java) { work, _ ->
        assertThat(failureOf { work.pay(1, emptyList()) }).isInstanceOf(IllegalStateException::class.java)
        assertThat(List(2) { work.pay(1, listOf("tea")) }).containsOnly(listOf(1L))
        assertThat(failureOf { work.pay(1, listOf("milk")) }).isInstanceOf(OnceConflictException::class.java)
        repeat(2) { work.unit(1) }
        assertThat(work.runs).hasValue(2)
    }

    @Test
    fun `the lock is held from the call to the end of the coroutine`() = test { work, locks ->
        val token = work.locked(1) { lease ->
            assertThat(lease.name()).isEqualTo("a:1")
            delay(10.milliseconds)
            withContext(Dispatchers.IO) { lease.ensureValid() }
            assertThat(isHeld(locks)).isTrue
            "done"
        }
        assertThat(token).isEqualTo("done")
        assertThat(isHeld(locks)).isFalse
        assertThat(failureOf { work.locked(1) { error("its own") } }).hasMessage("its own")
        assertThat(isHeld(locks)).isFalse
    }

    @Test
    fun `no thread waits`() = test { work, locks ->
        val other = locks.acquire("a:1")
        val inside = AtomicInteger()
        // All on the thread of this test.
        val waiting = List(20) {
            launch {
                work.locked(1) {
                    assertThat(inside.incrementAndGet()).isEqualTo(1)
                    yield()
                    inside.decrementAndGet()
                    ""
                }
            }
        }
        awaitUntil { locks.localLocks()[0].waiting() == 20 }
        assertThat(failureOf { work.impatient(1) }).isInstanceOf(LockTimeoutException::class.java)
        other.release()
        waiting.joinAll()
    }

    @Test
    fun `a busy lock is skipped, or something else answers`() = test { work, locks ->
        locks.acquire("a:1").use {
            assertThat(work.skipped()).isNull()
            work.skippedUnit()
            assertThat(work.calls).hasValue(0)
            assertThat(work.replaced(1)).isEqualTo("instead of 1")
            assertThat(work.replacedPlain(1)).isEqualTo("plain instead of 1")
            assertThat(work.replacedShort(1)).isEqualTo("short")
        }
        assertThat(work.skipped()).isEqualTo("ran")
        assertThat(work.replaced(1)).isEqualTo("ran")
    }

    @Test
    fun `a cancelled wait is withdrawn`() = test { work, locks ->
        val other = locks.acquire("a:1")
        val waiting = launch { work.locked(1) { error("must not run") } }
        awaitUntil { locks.localLocks()[0].waiting() == 1 }
        waiting.cancelAndJoin()
        other.release()
        awaitUntil { locks.localLocks().isEmpty() }
    }

    @Test
    fun `a cancelled function holds the lock until its coroutine has ended`() = test { work, locks ->
        val entered = CompletableDeferred<Unit>()
        val end = CompletableDeferred<Unit>()
        val running = launch(Dispatchers.Default) {
            work.locked(1) {
                entered.complete(Unit)
                // Does not notice the cancellation, as JDBC does not.
                while (!end.isCompleted) LockSupport.parkNanos(1_000_000)
                "late"
            }
        }
        entered.await()
        running.cancel()
        delay(50.milliseconds)
        assertThat(isHeld(locks)).isTrue
        end.complete(Unit)
        awaitUntil { !isHeld(locks) }
    }

    @Test
    fun `a function is under its lock and its permit, and so are those that it calls`() = test { work, locks ->
        val done = work.both(1) { lease ->
            assertThat(lease.isExclusive).isTrue
            assertThat(locks.permits("a:1", 1).tryAcquire()).isEmpty
            work.limited(1) + withContext(Dispatchers.IO) { work.impatient(1) }
        }
        assertThat(done).isEqualTo("ranran")
        assertThat(isHeld(locks)).isFalse
        locks.permits("a:1", 1).acquire().use {
            assertThat(failureOf { work.both(1) { error("must not run") } })
                .isInstanceOf(LockTimeoutException::class.java)
                .hasMessageContaining("permits of")
            assertThat(isHeld(locks)).isFalse
        }
    }

    @Test
    fun `a cancelled function holds its lock and its permit until its coroutine has ended`() = test { work, locks ->
        val entered = CompletableDeferred<Unit>()
        val end = CompletableDeferred<Unit>()
        val running = launch(Dispatchers.Default) {
            work.both(1) {
                entered.complete(Unit)
                // Does not notice the cancellation, as JDBC does not.
                while (!end.isCompleted) LockSupport.parkNanos(1_000_000)
                "late"
            }
        }
        entered.await()
        running.cancel()
        delay(50.milliseconds)
        assertThat(isHeld(locks)).isTrue
        assertThat(locks.permits("a:1", 1).tryAcquire()).isEmpty
        end.complete(Unit)
        awaitUntil { !isHeld(locks) && locks.permits("a:1", 1).tryRun { } }
    }

    @Test
    fun `whenever the cancellation comes, nothing stays locked`() = test { work, locks ->
        repeat(100) { round ->
            val running = launch(Dispatchers.Default) { work.locked(1) { delay(1.milliseconds); "" } }
            LockSupport.parkNanos(round * 10_000L)
            running.cancelAndJoin()
        }
        awaitUntil { locks.localLocks().isEmpty() }
    }

    @Test
    fun `a lost lease drops the result`() = test { work, locks ->
        val failure = failureOf {
            work.locked(1) { lease ->
                locks.forceRelease("a:1")
                awaitUntil { !lease.isValid }
                "done"
            }
        }
        assertThat(failure).isInstanceOf(LeaseLostException::class.java)
    }

    @Test
    fun `a nested call is reentrant, on any thread, for blocking methods and the template too`() = test { work, locks ->
        val seen = CopyOnWriteArrayList<Lease>()
        work.locked(1) { outer ->
            seen += outer
            withContext(Dispatchers.IO) {
                work.locked(1) { inner ->
                    seen += inner
                    delay(5.milliseconds)
                    work.impatient(1) + work.blocking()
                }
            }
            // Of a call around the nested one.
            work.locked(2) { work.impatient(1) }
            assertThat(isHeld(locks)).isTrue
            ""
        }
        assertThat(seen).hasSize(2)
        assertThat(seen[0]).isSameAs(seen[1])
        assertThat(isHeld(locks)).isFalse
    }

    @Test
    fun `other coroutines on the same thread are not nested`() = test { work, _ ->
        val entered = CompletableDeferred<Unit>()
        val end = CompletableDeferred<Unit>()
        val running = launch {
            work.locked(1) {
                entered.complete(Unit)
                end.await()
                ""
            }
        }
        entered.await()
        assertThat(failureOf { work.impatient(1) }).isInstanceOf(LockTimeoutException::class.java)
        assertThat(failureOf { work.blocking() }).isInstanceOf(LockTimeoutException::class.java)
        end.complete(Unit)
        running.join()
    }

    @Test
    fun `a function of the leader runs there, and is skipped elsewhere`() = testLeader { work, locks ->
        awaitUntil { work.led { "leads" } != null }
        val done = work.led { term -> withContext(Dispatchers.IO) { term.ensureValid(); term.leadership() } }
        assertThat(done).isEqualTo("suspended")
        locks.leaderships().forEach { it.close() }
        assertThat(work.led { error("must not run") }).isNull()
    }

    @Test
    fun `a revocation cancels a function of the leader, and waits for its coroutine`() = testLeader { work, locks ->
        awaitUntil { work.led { "leads" } != null }
        val entered = CompletableDeferred<Term>()
        val end = CompletableDeferred<Unit>()
        val running = async(Dispatchers.Default) {
            failureOf {
                work.led { term ->
                    entered.complete(term)
                    // Does not notice the cancellation, as JDBC does not.
                    while (!end.isCompleted) LockSupport.parkNanos(1_000_000)
                    "late"
                }
            }
        }
        val term = entered.await()
        locks.leaderships().forEach { it.resign() }
        assertThat(running.await()).isInstanceOf(CancellationException::class.java)
        assertThat(term.isValid).isTrue
        assertThat(work.led { error("must not run") }).isNull()
        end.complete(Unit)
        awaitUntil { work.led { it.fencingToken().toString() } != null }
        assertThat(term.isValid).isFalse
    }

    @Test
    fun `a call by this says why there is no lease`() = test { work, _ ->
        assertThat(failureOf { work.byThis() })
            .isInstanceOf(IllegalStateException::class.java)
            .hasMessageContaining("called by this.method()")
    }

    /** Returns whether a lock is held; permits are not counted. */
    private fun isHeld(locks: LockClient) =
        locks.localLocks().any { it.lease().isPresent && !it.name().startsWith("permits:") }

    private suspend fun failureOf(block: suspend () -> Any?): Throwable? = runCatching { block() }.exceptionOrNull()

    private suspend fun awaitUntil(condition: suspend () -> Boolean) =
        withTimeout(10.seconds) { while (!condition()) delay(2.milliseconds) }

    private fun test(block: suspend CoroutineScope.(Work, LockClient) -> Unit) =
        test("suspending", Work::class.java, block)

    private val json =
        AutoConfigurations.of(
            *Contexts.configurations(
                "org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration",
                "org.springframework.boot.autoconfigure.jackson.JacksonAutoConfiguration",
            )
        )

    private fun testLeader(block: suspend CoroutineScope.(Leading, LockClient) -> Unit) =
        test("suspending-leader", Leading::class.java, block)

    private fun <T : Any> test(store: String, type: Class<T>, block: suspend CoroutineScope.(T, LockClient) -> Unit) {
        Contexts.memory(store).withConfiguration(json).withBean(type).run { context ->
            assertThat(context).hasNotFailed()
            runBlocking {
                withTimeout(30.seconds) { block(context.getBean(type), context.getBean(LockClient::class.java)) }
            }
        }
    }
}
