package io.holdfast.kotlin

import io.holdfast.LockClient
import io.holdfast.LockOptions
import java.nio.file.Files
import java.nio.file.Path
import java.util.concurrent.CopyOnWriteArrayList
import kotlin.io.path.extension
import kotlin.io.path.readText
import kotlin.streams.asSequence
import kotlin.time.Duration.Companion.seconds
import kotlin.time.toJavaDuration
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import org.assertj.core.api.Assertions.assertThat
import org.junit.jupiter.api.Test

/** The examples of docs/kotlin.md. */
class DocumentationTest {

    private val paid = CopyOnWriteArrayList<String>()

    private suspend fun pay(order: String, token: Long): Long {
        delay(1)
        paid += order
        return token
    }

    private suspend fun refund(locks: LockClient, orderId: Long): Long =
        locks.withLock("order:refund:$orderId") { lease ->
            pay("order $orderId", lease.fencingToken())
        }

    private suspend fun report(locks: LockClient): String =
        locks.tryWithLock("report", 10.seconds) { buildReport() }
            ?: "another process is building it"

    private suspend fun buildReport(): String {
        delay(1)
        return "the report"
    }

    private suspend fun payAll(locks: LockClient, orders: List<String>) {
        val options = LockOptions.defaults()
            .waitAtMost(10.seconds.toJavaDuration())
            .holdAtMost(60.seconds.toJavaDuration())
        locks.withLock("payments", options) { lease ->
            orders.forEach { launch { pay(it, lease.fencingToken()) } }
        }
    }

    private suspend fun exportAll(locks: LockClient, report: String, largeReport: String) {
        val exports = locks.permits("export", 5)
        exports.withPermit { upload(report) }
        exports.weight(3).tryWithPermit(10.seconds) { upload(largeReport) } ?: "others export"
    }

    private val prices = CopyOnWriteArrayList<String>()

    private fun show(price: List<String>) = price.size

    private suspend fun reload(locks: LockClient, loaded: List<String>): Int {
        locks.withWriteLock("catalog", 10.seconds) { prices.addAll(loaded) }
        val shown = locks.withReadLock("catalog") { show(prices) }
        return shown
    }

    private suspend fun upload(report: String): String {
        pay(report, 0)
        return report
    }

    @Test
    fun `the examples run`() = runBlocking {
        LockClient.connect("memory:documentation").use { locks ->
            assertThat(refund(locks, 1)).isPositive
            assertThat(report(locks)).isEqualTo("the report")
            payAll(locks, listOf("order 2", "order 3"))
            exportAll(locks, "small", "large")
            assertThat(reload(locks, listOf("10"))).isEqualTo(1)
            assertThat(paid).containsExactlyInAnyOrder("order 1", "order 2", "order 3", "small", "large")
            assertThat(locks.localLocks()).isEmpty()
        }
    }

    @Test
    fun `each example of the page is code of a test`() {
        val tests = listOf("src/test/kotlin", "../spring-boot/src/test/kotlin")
            .flatMap { folder -> Files.walk(Path.of(folder)).use { it.asSequence().filter { it.extension == "kt" }.toList() } }
            .map { lines(it.readText()) }
        val examples = Regex("```kotlin\n(.*?)```", RegexOption.DOT_MATCHES_ALL)
            .findAll(Path.of("../docs/kotlin.md").readText())
            .map { lines(it.groupValues[1]) }
            .toList()
        assertThat(examples).hasSizeGreaterThan(3).allSatisfy { example ->
            assertThat(tests).anySatisfy { assertThat(it).contains(example) }
        }
    }

    /** The lines without indentation and blank lines. */
    private fun lines(text: String): String = text.lines().map(String::trim).filter(String::isNotEmpty).joinToString("\n")
}
