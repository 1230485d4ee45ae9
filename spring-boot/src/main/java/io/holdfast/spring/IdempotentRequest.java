package io.holdfast.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.aot.hint.annotation.Reflective;

/**
 * Answers requests with the same header {@code Idempotency-Key} once, on the method of a controller of Spring MVC or
 * WebFlux; a repetition receives the stored answer.
 *
 * <pre>{@code
 * @PostMapping("/payments")
 * @IdempotentRequest(keepFor = "1d")
 * ResponseEntity<Receipt> pay(@RequestBody Payment payment) { … }
 * }</pre>
 *
 * <p>As {@link Idempotent}, with the header as the key, for each HTTP method, path and user. The answers are those of
 * the IETF draft draft-ietf-httpapi-idempotency-key-header, each a problem detail: without the header, 400; with the
 * key of another request, 422; while a request with the key runs, 409.
 *
 * <p>The stored answer is what the method returns: the value, or of a {@code ResponseEntity} the status, the headers
 * except {@code Set-Cookie}, and the body. A repetition has the header {@code Idempotent-Replayed: true}. A method that
 * throws, or returns a status of 500 or above, leaves nothing, and its effects in the database are rolled back.
 *
 * <p>Requests are equal if their parameters and their body, as the method receives it, are equal.
 *
 * <p>In WebFlux, the method returns a {@code Mono}, or is a suspending function. With the record in the database, it is
 * called and subscribed to on Reactor's bounded elastic scheduler, and its blocking work is committed with the record.
 * Work that goes on elsewhere is not, so it fails: with R2DBC, choose the weaker {@link
 * OnceRecord#STORE_AT_LEAST_ONCE}. A client that goes away does not end the work.
 *
 * @see <a href="https://github.com/holdfast-lock/holdfast/blob/main/docs/idempotent.md#requests">Requests</a>
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Reflective
public @interface IdempotentRequest {

    /** How long the key and the answer are kept at least: longer than any client repeats a request. */
    String keepFor() default "1d";

    /**
     * The longest wait for a request with the same key that runs, before the answer 409: a duration, or {@code 0} to
     * answer at once.
     */
    String waitTime() default "0";

    /** The name or qualifier of the {@link io.holdfast.LockClient} bean; the primary one by default. */
    String client() default "";

    /**
     * Where key and answer are kept: by default in the database, together with the effects. {@link
     * OnceRecord#STORE_AT_LEAST_ONCE} needs no database and promises less.
     */
    OnceRecord record() default OnceRecord.DATABASE;

    /** The name or qualifier of the transaction manager; by default that of {@code @Transactional}, or the primary one. */
    String transactionManager() default "";
}
