package io.holdfast.kotlin

import io.holdfast.Lease
import io.holdfast.LeaseLostException
import io.holdfast.LockClient
import io.holdfast.LockOptions
import io.holdfast.LockTimeoutException
import io.holdfast.testkit.servers.RedisServer
import java.util.concurrent.CopyOnWriteArrayList
import java.util.concurrent.Executors
import java.util.concurrent.atomic.AtomicBoolean
import java.util.concurrent.atomic.AtomicInteger
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.delay
import kotlinx.coroutines.job
import kotlinx.coroutines.joinAll
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext
import kotlinx.coroutines.withTimeout
import kotlinx.coroutines.withTimeoutOrNull
import kotlinx.coroutines.yield
import org.assertj.core.api.Assertions.assertThat
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Test
import org.junit.jupiter.params.ParameterizedClass
import org.junit.jupiter.params.provider.MethodSource

/** Each test on a memory store and on a real Redis server. [other] is a client of another process, as it were. */
@ParameterizedClass
@MethodSource("stores")
class LocksTest(uri: String) {

    private val locks: LockClient = LockClient.connect(uri)
    private val other: LockClient = LockClient.connect(uri)

    @AfterEach
    fun close() {
        locks.close()
        other.close()
    }

    @Test
    fun `the block runs under the lock and its result is that of the call`() = test {
        val token = locks.withLock("a") { lease ->
            assertThat(other.tryAcquire("a")).isEmpty
            lease.fencingToken()
        }
        assertThat(token).isPositive
        assertFree("a")
    }

    @Test
    fun `an exception of the block releases and is thrown`() = test {
        val failure = failureOf { locks.withLock("a") { error("its own") } }
        assertThat(failure).isExactlyInstanceOf(IllegalStateException::class.java).hasMessage("its own")
        assertFree("a")
    }

    @Test
    fun `coroutines of two clients exclude one another, and a result may be null`() = test {
        val inside = AtomicInteger()
        val rounds = AtomicInteger()
        val tokens = CopyOnWriteArrayList<Long>()
        List(8) { index ->
            launch(Dispatchers.Default) {
                repeat(10) {
                    val nothing: String? = (if (index % 2 == 0) locks else other).withLock("a") { lease ->
                        assertThat(inside.incrementAndGet()).isEqualTo(1)
                        tokens += lease.fencingToken()
                        yield()
                        rounds.incrementAndGet()
                        inside.decrementAndGet()
                        null
                    }
                    assertThat(nothing).isNull()
                }
            }
        }.joinAll()
        assertThat(rounds).hasValue(80)
        assertThat(tokens).isSorted.doesNotHaveDuplicates()
    }

    @Test
    fun `no thread waits`() = test {
        other.acquire("a").use {
            Executors.newSingleThreadExecutor().asCoroutineDispatcher().use { single ->
                val waiting = List(50) { launch(single) { locks.withLock("a") { } } }
                awaitUntil { locks.localLocks().firstOrNull()?.waiting() == 50 }
                // The only thread of that dispatcher is free.
                assertThat(withContext(single) { "free" }).isEqualTo("free")
                waiting.forEach { it.cancelAndJoin() }
            }
        }
        assertFree("a")
    }

    @Test
    fun `the block may change threads`() = test {
        locks.withLock("a") { lease ->
            withContext(Dispatchers.IO) { lease.ensureValid() }
            delay(5.milliseconds)
            withContext(Dispatchers.Default) { lease.ensureValid() }
        }
        assertFree("a")
    }

    @Test
    fun `the wait ends by its limit, and a busy lock of tryWithLock is null`() = test {
        other.acquire("a").use {
            // Long enough for an answer of a server on a busy machine: without one, the store counts as failed.
            assertThat(failureOf { locks.withLock("a", 1.seconds) { } })
                .isInstanceOf(LockTimeoutException::class.java)
            assertThat(locks.tryWithLock("a") { "ran" }).isNull()
            assertThat(locks.tryWithLock("a", 1.seconds) { "ran" }).isNull()
        }
        assertThat(locks.tryWithLock("a") { "ran" }).isEqualTo("ran")
        assertThat(locks.tryWithLock("a", 10.seconds) { "ran" }).isEqualTo("ran")
        assertFree("a")
    }

    @Test
    fun `a mistake is an IllegalArgumentException`() = test {
        assertThat(failureOf { locks.withLock(" ") { } }).isInstanceOf(IllegalArgumentException::class.java)
        assertThat(failureOf { locks.withLock("a", (-1).seconds) { } })
            .isInstanceOf(IllegalArgumentException::class.java)
    }

    @Test
    fun `a cancelled wait is withdrawn`() = test {
        val held = other.acquire("a")
        val entered = AtomicBoolean()
        val waiting = launch(Dispatchers.Default) { locks.withLock("a") { entered.set(true) } }
        val trying = launch(Dispatchers.Default) { locks.tryWithLock("a", 1.minutes) { entered.set(true) } }
        awaitUntil { locks.localLocks().firstOrNull()?.waiting() == 2 }
        waiting.cancelAndJoin()
        trying.cancelAndJoin()
        awaitUntil { locks.localLocks().isEmpty() }
        held.release()
        assertFree("a")
        assertThat(entered).isFalse
    }

    @Test
    fun `whenever the cancellation comes, nothing stays locked`() = test {
        repeat(200) { round ->
            val running = launch(Dispatchers.Default) { locks.withLock("a") { delay(1.milliseconds) } }
            val busy = System.nanoTime() + round * 10_000L
            while (System.nanoTime() < busy) Thread.onSpinWait()
            running.cancelAndJoin()
        }
        assertFree("a")
    }

    @Test
    fun `a grant that the cancellation overtakes is released`() = test {
        // This dispatcher does not run the coroutine after the grant until the cancellation was there.
        Executors.newSingleThreadExecutor().asCoroutineDispatcher().use { single ->
            val held = other.acquire("a")
            val entered = AtomicBoolean()
            val waiting = launch(single) { locks.withLock("a") { entered.set(true) } }
            awaitUntil { locks.localLocks().firstOrNull()?.waiting() == 1 }
            val blocked = CompletableDeferred<Unit>()
            launch(single) { runBlocking { blocked.await() } }
            held.release()
            awaitUntil { locks.localLocks().firstOrNull()?.lease()?.isPresent == true }
            delay(50.milliseconds)
            waiting.cancel()
            blocked.complete(Unit)
            waiting.join()
            assertThat(entered).isFalse
        }
        assertFree("a")
    }

    @Test
    fun `a cancelled block holds the lock until it has ended`() = test {
        val entered = CompletableDeferred<Unit>()
        val cleaning = CompletableDeferred<Unit>()
        val clean = CompletableDeferred<Unit>()
        val running = launch(Dispatchers.Default) {
            locks.withLock("a") {
                try {
                    entered.complete(Unit)
                    awaitCancellation()
                } finally {
                    withContext(NonCancellable) {
                        cleaning.complete(Unit)
                        clean.await()
                    }
                }
            }
        }
        entered.await()
        running.cancel()
        cleaning.await()
        assertThat(other.tryAcquire("a")).isEmpty
        clean.complete(Unit)
        running.join()
        assertFree("a")
    }

    @Test
    fun `a timeout of the caller ends the wait, and one inside releases`() = test {
        other.acquire("a").use {
            assertThat(withTimeoutOrNull(50.milliseconds) { locks.withLock("a") { "ran" } }).isNull()
        }
        assertThat(withTimeoutOrNull(50.milliseconds) { locks.withLock<String>("a") { awaitCancellation() } }).isNull()
        assertFree("a")
        assertThat(failureOf { locks.withLock("a") { withTimeout(20.milliseconds) { awaitCancellation() } } })
            .isInstanceOf(CancellationException::class.java)
        assertFree("a")
    }

    @Test
    fun `the lock is held until the coroutines of the block have ended`() = test {
        val go = CompletableDeferred<Unit>()
        val returned = CompletableDeferred<Unit>()
        val running = launch(Dispatchers.Default) {
            locks.withLock("a") {
                launch { go.await() }
                returned.complete(Unit)
            }
        }
        returned.await()
        delay(20.milliseconds)
        assertThat(other.tryAcquire("a")).isEmpty
        go.complete(Unit)
        running.join()
        assertFree("a")
    }

    @Test
    fun `a lost lease cancels the block and its coroutines, with the loss as cause`() = test {
        val seen = CopyOnWriteArrayList<Throwable>()
        val failure = failureOf {
            locks.withLock("a") {
                launch(start = CoroutineStart.UNDISPATCHED) { seen += failureOf { awaitCancellation() }!! }
                locks.forceRelease("a")
                seen += failureOf { awaitCancellation() }!!
            }
        }
        assertThat(failure).isInstanceOf(LeaseLostException::class.java)
        assertThat(seen).hasSize(2).allSatisfy { assertThat(it).hasRootCauseInstanceOf(LeaseLostException::class.java) }
        assertThat(currentCoroutineContext().job.isActive).isTrue
        assertFree("a")
    }

    @Test
    fun `the result of a block whose lease was lost is dropped, and its own exception comes first`() = test {
        assertThat(failureOf { locks.withLock("a") { lease -> lose(lease) } })
            .isInstanceOf(LeaseLostException::class.java)
        val failure = failureOf {
            locks.withLock("a") { lease ->
                withContext(NonCancellable) { lose(lease) }
                error("its own")
            }
        }
        assertThat(failure).hasMessage("its own")
        assertThat(failure!!.suppressed).hasAtLeastOneElementOfType(LeaseLostException::class.java)
    }

    @Test
    fun `a cancelled caller whose lease is lost stays cancelled`() = test {
        val entered = CompletableDeferred<Unit>()
        val failures = CopyOnWriteArrayList<Throwable>()
        val running = launch(Dispatchers.Default) {
            failures += failureOf {
                locks.withLock("a") { lease ->
                    entered.complete(Unit)
                    failureOf { awaitCancellation() }
                    withContext(NonCancellable) { lose(lease) }
                    awaitCancellation()
                }
            }!!
        }
        entered.await()
        running.cancelAndJoin()
        assertThat(failures).singleElement().isInstanceOf(CancellationException::class.java)
    }

    @Test
    fun `a nested call runs under the same lease`() = test {
        locks.withLock("a") { outer ->
            locks.withLock("b") {
                withContext(Dispatchers.IO) {
                    locks.withLock("a") { inner -> assertThat(inner).isSameAs(outer) }
                }
                assertThat(locks.tryWithLock("a") { "ran" }).isEqualTo("ran")
            }
            launch { locks.withLock("a") { inner -> assertThat(inner).isSameAs(outer) } }
            outer.ensureValid()
        }
        assertFree("a")
        assertFree("b")
    }

    @Test
    fun `only the same name of the same client is nested`() = test {
        locks.withLock("a") {
            assertThat(other.tryWithLock("a") { "ran" }).isNull()
            locks.withLock("c") { lease -> assertThat(lease.name()).isEqualTo("c") }
        }
    }

    @Test
    fun `a nested call does not begin under a lost lease`() = test {
        val entered = AtomicBoolean()
        val failure = failureOf {
            locks.withLock("a") { lease ->
                withContext(NonCancellable) {
                    lose(lease)
                    locks.withLock("a") { entered.set(true) }
                }
            }
        }
        assertThat(failure).isInstanceOf(LeaseLostException::class.java)
        assertThat(entered).isFalse
    }

    @Test
    fun `a coroutine that outlives the call keeps the lock that it has entered, and enters no released one`() = test {
        val entered = CompletableDeferred<Unit>()
        val go = CompletableDeferred<Unit>()
        val later = CompletableDeferred<Unit>()
        val (inside, after) = locks.withLock("a") { outer ->
            val escaped = CoroutineScope(currentCoroutineContext() + NonCancellable)
            val inside = escaped.async {
                locks.withLock("a") {
                    entered.complete(Unit)
                    go.await()
                }
            }
            val after = escaped.async {
                later.await()
                locks.withLock("a") { own -> assertThat(own).isNotSameAs(outer) }
            }
            entered.await()
            inside to after
        }
        assertThat(other.tryAcquire("a")).isEmpty
        go.complete(Unit)
        inside.await()
        assertFree("a")
        later.complete(Unit)
        after.await()
        assertFree("a")
    }

    @Test
    fun `options count`() = test {
        val fixed = LockOptions.defaults().leaseFor(java.time.Duration.ofMillis(200))
        assertThat(failureOf { locks.withLock("a", fixed) { awaitCancellation() } })
            .isInstanceOf(LeaseLostException::class.java)
    }

    @Test
    fun `as many blocks run under permits as the limit says, and each has a permit of its own`() = test {
        val inside = AtomicInteger()
        val most = AtomicInteger()
        List(12) { index ->
            launch(Dispatchers.Default) {
                (if (index % 2 == 0) locks else other).permits("a", 3).withPermit {
                    most.accumulateAndGet(inside.incrementAndGet(), Math::max)
                    yield()
                    inside.decrementAndGet()
                }
            }
        }.joinAll()
        assertThat(most.get()).isBetween(1, 3)
        assertThat(locks.permits("a", 3).inspect().isUsed).isFalse
    }

    @Test
    fun `a nested call takes one more permit, and a lock of that name is another thing`() = test {
        val permits = locks.permits("a", 2)
        val token = permits.withPermit { outer ->
            val inner = permits.withPermit(1.seconds) { inner ->
                assertThat(inner).isNotSameAs(outer)
                assertThat(permits.inspect().used()).isEqualTo(2)
                assertThat(permits.tryWithPermit { "third" }).isNull()
                locks.withLock("a") { lock -> assertThat(lock.isExclusive).isTrue }
                inner.fencingToken()
            }
            outer.ensureValid()
            inner
        }
        assertThat(token).isPositive
        assertThat(permits.inspect().isUsed).isFalse
    }

    @Test
    fun `a lock around permits stays entered within them`() = test {
        locks.withLock("a") { outer ->
            locks.permits("b", 1).withPermit {
                locks.withLock("a") { inner -> assertThat(inner).isSameAs(outer) }
            }
        }
        assertFree("a")
    }

    @Test
    fun `a lost permit cancels its block, and a cancelled wait leaves nothing`() = test {
        val permits = locks.permits("a", 1)
        val failure = failureOf {
            permits.withPermit { lease ->
                locks.permits("a", 1).forceReleaseAll()
                awaitUntil { !lease.isValid }
                awaitCancellation()
            }
        }
        assertThat(failure).isInstanceOf(LeaseLostException::class.java)

        val held = permits.acquire()
        assertThat(permits.tryWithPermit(1.seconds) { "busy" }).isNull()
        val waiting = launch { permits.withPermit { } }
        awaitUntil { other.permits("a", 1).inspect().waiting() == 1 }
        waiting.cancelAndJoin()
        held.release()
        assertThat(other.permits("a", 1).tryWithPermit(5.seconds) { "free" }).isEqualTo("free")
    }

    @Test
    fun `readers run at once, and a writer is alone`() = test {
        val bothRead = CompletableDeferred<Unit>()
        val first = launch {
            locks.withReadLock("a") {
                bothRead.await()
            }
        }
        other.withReadLock("a", 10.seconds) { lease ->
            assertThat(lease.isExclusive).isFalse
            awaitUntil { locks.getReadWriteLock("a").inspect().holds().size == 2 }
            assertThat(failureOf { locks.withWriteLock("a", 0.seconds) { } })
                .isInstanceOf(LockTimeoutException::class.java)
            bothRead.complete(Unit)
        }
        first.join()
        val token = locks.withWriteLock("a") { lease ->
            assertThat(lease.isExclusive).isTrue
            assertThat(failureOf { other.withReadLock("a", 0.seconds) { } })
                .isInstanceOf(LockTimeoutException::class.java)
            lease.fencingToken()
        }
        assertThat(token).isPositive
        other.withWriteLock("a", 5.seconds) { }
    }

    @Test
    fun `a lost read lock cancels its block, and a cancelled writer lets readers in`() = test {
        val failure = failureOf {
            locks.withReadLock("a") { lease ->
                locks.getReadWriteLock("a").forceReleaseAll()
                awaitUntil { !lease.isValid }
                awaitCancellation()
            }
        }
        assertThat(failure).isInstanceOf(LeaseLostException::class.java)

        locks.withReadLock("a") {
            val writing = launch { other.withWriteLock("a") { } }
            awaitUntil { locks.getReadWriteLock("a").inspect().waiting() == 1 }
            writing.cancelAndJoin()
            assertThat(other.withReadLock("a", 10.seconds) { "read" }).isEqualTo("read")
        }
    }

    private suspend fun lose(lease: Lease) {
        locks.forceRelease(lease.name())
        awaitUntil { !lease.isValid }
    }

    /** Another client gets the lock within a moment, at the first attempt after the release has arrived. */
    private fun assertFree(name: String) {
        assertThat(other.tryAcquire(name, LockOptions.defaults().waitAtMost(java.time.Duration.ofSeconds(5))))
            .hasValueSatisfying(Lease::release)
    }

    private suspend fun failureOf(block: suspend () -> Any?): Throwable? = runCatching { block() }.exceptionOrNull()

    private suspend fun awaitUntil(condition: () -> Boolean) = withContext(NonCancellable) {
        withTimeout(1.minutes) { while (!condition()) delay(2.milliseconds) }
    }

    private fun test(block: suspend CoroutineScope.() -> Unit) = runBlocking { withTimeout(2.minutes, block) }

    companion object {

        /** Ends with this JVM. */
        private val redis by lazy { RedisServer.start() }

        @JvmStatic
        fun stores(): List<String> = listOf("memory:kotlin", redis.uri())
    }
}
