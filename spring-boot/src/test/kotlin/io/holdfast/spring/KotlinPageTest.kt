package io.holdfast.spring

import io.holdfast.Lease
import io.holdfast.LockClient
import io.holdfast.spring.boot.Contexts
import kotlinx.coroutines.runBlocking
import org.assertj.core.api.Assertions.assertThat
import org.junit.jupiter.api.Test
import org.springframework.stereotype.Service

/** The examples of docs/kotlin.md; a test of holdfast-kotlin compares them. */
class KotlinPageTest {

    open class Payments {
        open suspend fun pay(orderId: Long, token: Long): Long = token
    }

    @Service
    open class Refunds(private val payments: Payments) {

        @Locked(name = "order.refund", key = ["#orderId"], waitTime = "10s")
        open suspend fun refund(orderId: Long, lease: Lease = Locked.LEASE): Long =
            payments.pay(orderId, lease.fencingToken())

        @Locked(name = "order.check", key = ["#orderId"], waitTime = "0", onBusy = OnBusy.SKIP)
        open suspend fun check(orderId: Long): String? = "checked"
    }

    @Test
    fun `the example runs`() {
        Contexts.memory("kotlin-page").withBean(Payments::class.java).withBean(Refunds::class.java).run { context ->
            val refunds = context.getBean(Refunds::class.java)
            val locks = context.getBean(LockClient::class.java)
            runBlocking {
                assertThat(refunds.refund(1)).isPositive
                assertThat(refunds.check(1)).isEqualTo("checked")
                locks.acquire("order.check:1").use { assertThat(refunds.check(1)).isNull() }
            }
        }
    }
}
