package io.holdfast.spring

import io.holdfast.spring.boot.Contexts
import io.holdfast.spring.declaration.LockedDefinitionException
import java.util.Optional
import java.util.concurrent.CompletableFuture
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.Deferred
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.emptyFlow
import org.assertj.core.api.Assertions.assertThat
import org.junit.jupiter.api.Test
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.CsvSource
import reactor.core.publisher.Mono

/** What is refused of Kotlin, and what is not. */
class KotlinAtStartTest {

    class FinalFun {
        @Locked("x")
        fun method() {
        }
    }

    interface Method {
        fun method()
    }

    /** The method is not final, only its class. */
    class FinalClass : Method {
        @Locked("x")
        override fun method() {
        }
    }

    open class NeverNull {
        @Locked(name = "x", onBusy = OnBusy.SKIP)
        open fun method(): String = ""
    }

    open class NeverNullSuspending {
        @Locked(name = "x", onBusy = OnBusy.SKIP)
        open suspend fun method(): List<String> = listOf()
    }

    open class SuspendingFlow {
        @Locked("x")
        open suspend fun method(): Flow<String> = emptyFlow()
    }

    open class SuspendingDeferred {
        @Locked("x")
        open suspend fun method(): Deferred<String> = CompletableDeferred("")
    }

    open class SuspendingMono {
        @Locked("x")
        open suspend fun method(): Mono<String> = Mono.just("")
    }

    open class OtherFallback {
        @Locked(name = "x", fallback = "other")
        open suspend fun method(id: Long): String = ""

        suspend fun other(id: Long): Int = 1
    }

    @ParameterizedTest
    @CsvSource(
        delimiter = '|',
        textBlock = """
            FinalFun            | a final method cannot be intercepted         | open fun, or the compiler plugin kotlin-spring
            FinalClass          | its class is final                           | open fun, or the compiler plugin kotlin-spring
            NeverNull           | returns a String that Kotlin declares as never null | a nullable return type (String?)
            NeverNullSuspending | returns a List that Kotlin declares as never null   | a nullable return type (List?)
            SuspendingFlow      | returns a kotlinx.coroutines.flow.Flow, whose work goes on | returns the value itself
            SuspendingDeferred  | returns a kotlinx.coroutines.Deferred, whose work goes on  | returns the value itself
            SuspendingMono      | returns a reactor.core.publisher.Mono, whose work goes on  | returns the value itself
            OtherFallback       | fallback "other" returns another type         | that returns String""",
    )
    fun `stops the start`(type: String, message: String, wayOut: String) {
        val bean = Class.forName(KotlinAtStartTest::class.java.name + "$" + type)
        Contexts.memory("kotlin-start").withPropertyValues("spring.aop.proxy-target-class=true").withBean(bean).run {
            assertThat(it).hasFailed()
            assertThat(generateSequence(it.startupFailure) { failure -> failure.cause }.toList())
                .anySatisfy { failure ->
                    assertThat(failure)
                        .isInstanceOf(LockedDefinitionException::class.java)
                        .hasMessageContaining(message)
                        .hasMessageContaining(wayOut)
                }
        }
    }

    open class Fine {
        @Locked(name = "x", onBusy = OnBusy.SKIP)
        open fun nullable(): String? = null

        @Locked(name = "x", onBusy = OnBusy.SKIP)
        open fun unit() {
        }

        @Locked(name = "x", onBusy = OnBusy.SKIP)
        open fun <T> ofUnknownType(value: T): T = value

        @Locked(name = "x", onBusy = OnBusy.SKIP)
        open fun optional(): Optional<String> = Optional.empty()

        @Locked(name = "x", onBusy = OnBusy.SKIP)
        open fun stage(): CompletableFuture<String?> = CompletableFuture.completedFuture(null)

        @Locked(name = "x", onBusy = OnBusy.SKIP)
        open fun mono(): Mono<String> = Mono.empty()

        @Locked(name = "x", onBusy = OnBusy.SKIP)
        open suspend fun suspendingNullable(): String? = null

        @Locked(name = "x", onBusy = OnBusy.SKIP)
        open suspend fun suspendingUnit() {
        }

        @Locked(name = "x", onBusy = OnBusy.SKIP)
        open suspend fun suspendingOptional(): Optional<String> = Optional.empty()
    }

    @Test
    fun `what can be skipped is not refused`() {
        Contexts.memory("kotlin-fine").withBean(Fine::class.java).run { assertThat(it).hasNotFailed() }
    }
}
