package io.holdfast.spring.once

import io.holdfast.spring.IdempotentRequest
import io.holdfast.spring.OnceRecord
import java.net.URI
import java.net.http.HttpClient
import java.net.http.HttpRequest
import java.net.http.HttpResponse
import java.util.UUID
import java.util.concurrent.atomic.AtomicInteger
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.delay
import kotlinx.coroutines.withContext
import org.assertj.core.api.Assertions.assertThat
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.Timeout
import org.springframework.boot.WebApplicationType
import org.springframework.boot.builder.SpringApplicationBuilder
import org.springframework.http.ResponseEntity
import org.springframework.jdbc.core.JdbcTemplate
import org.springframework.web.bind.annotation.PostMapping
import org.springframework.web.bind.annotation.RequestBody
import org.springframework.web.bind.annotation.RestController

/** Requests to suspending functions of a WebFlux controller, over HTTP. */
@Timeout(120)
class SuspendingRequestTest {

    @RestController
    open class Controller(private val jdbc: JdbcTemplate) {

        private val runs = AtomicInteger()

        private fun effect(payment: Map<String, String>): Map<String, Int> {
            jdbc.update("INSERT INTO effects VALUES (?)", payment["id"])
            return mapOf("number" to runs.incrementAndGet())
        }

        @PostMapping("/suspending-payments")
        @IdempotentRequest
        open suspend fun pay(@RequestBody payment: Map<String, String>): ResponseEntity<Map<String, Int>> =
            ResponseEntity.status(201).body(effect(payment))

        @PostMapping("/suspending-stored")
        @IdempotentRequest(record = OnceRecord.STORE_AT_LEAST_ONCE)
        open suspend fun stored(@RequestBody payment: Map<String, String>): ResponseEntity<Map<String, Int>> {
            delay(10)
            return ResponseEntity.status(201).body(mapOf("number" to runs.incrementAndGet()))
        }

        @PostMapping("/suspending-elsewhere")
        @IdempotentRequest
        open suspend fun elsewhere(@RequestBody payment: Map<String, String>): Map<String, Int> =
            withContext(Dispatchers.IO) { effect(payment) }
    }

    private val http = HttpClient.newHttpClient()

    @Test
    fun `a suspending function answers a request once`() {
        SpringApplicationBuilder(ExchangeApplication::class.java, Controller::class.java)
            .web(WebApplicationType.REACTIVE)
            .properties(
                "server.port=0",
                "server.address=127.0.0.1",
                "holdfast.store=memory:suspending-requests",
                "spring.main.banner-mode=off",
            )
            .run()
            .use { application ->
                val port = application.environment.getProperty("local.server.port")
                fun send(path: String, key: String, amount: Int): HttpResponse<String> {
                    val request =
                        HttpRequest.newBuilder(URI.create("http://127.0.0.1:$port$path"))
                            .header("Content-Type", "application/json")
                            .header("Idempotency-Key", key)
                            .POST(HttpRequest.BodyPublishers.ofString("""{"id": "$key", "amount": "$amount"}"""))
                            .build()
                    return http.send(request, HttpResponse.BodyHandlers.ofString())
                }
                for (path in listOf("/suspending-payments", "/suspending-stored")) {
                    val key = UUID.randomUUID().toString()
                    val first = send(path, key, 7)
                    assertThat(first.statusCode()).describedAs(first.body()).isEqualTo(201)
                    val second = send(path, key, 7)
                    assertThat(second.body()).isEqualTo(first.body())
                    assertThat(second.statusCode()).isEqualTo(201)
                    assertThat(second.headers().firstValue("Idempotent-Replayed")).contains("true")
                    assertThat(send(path, key, 8).statusCode()).isEqualTo(422)
                }
                assertThat(send("/suspending-elsewhere", UUID.randomUUID().toString(), 7).statusCode()).isEqualTo(500)
            }
    }
}
