package io.holdfast.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.aot.hint.annotation.Reflective;
import org.springframework.core.annotation.AliasFor;

/**
 * Runs the method once for each key, over all instances of the application; later calls receive the stored result.
 *
 * <pre>{@code
 * @Idempotent(name = "payment.callback", key = "#callback.paymentId", keepFor = "30d")
 * public Receipt settle(Callback callback) { … }
 * }</pre>
 *
 * <p>The call acquires the lock {@code name:key}, begins a transaction, writes the key with {@link
 * io.holdfast.jdbc.JdbcOnce}, and runs the method. Key, result and effects in the database are committed together, or
 * none of them is. If the method throws anything, nothing stays, and the next call runs it. Effects outside of that
 * database happen at least once.
 *
 * <p>A second call waits for the first as with {@link Locked}: up to {@link #waitTime}, and then throws {@link
 * io.holdfast.LockTimeoutException}. A call whose key was used with another {@link #fingerprint} throws {@link
 * io.holdfast.OnceConflictException} and runs nothing.
 *
 * <p>The result is stored as JSON by the ObjectMapper bean, by the method's generic return type. Methods that return
 * nothing, null or an {@code Optional} work, too. A result that cannot be read back fails the first call. Methods that
 * return a stage, a publisher or a future, and suspending functions, fail the start; see {@link #record} for {@code Mono}
 * and suspending functions.
 *
 * <p>Unless {@link #record} says otherwise, needs a DataSource, its transaction manager, the module holdfast-jdbc and
 * the table {@code holdfast_once}. A bean of type {@code JdbcOnce} sets another table. {@code @Transactional} on the
 * method joins the transaction.
 *
 * @see <a href="https://github.com/holdfast-lock/holdfast/blob/main/docs/idempotent.md">A request that arrives twice</a>
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Reflective
public @interface Idempotent {

    /** An alias of {@link #name}. */
    @AliasFor("name")
    String value() default "";

    /**
     * The constant part of the lock name and of the stored key. Required. It must never change while keys are kept:
     * under another name, the work of every key would be done again.
     */
    @AliasFor("value")
    String name() default "";

    /** Expressions, as in {@link Locked#key}. Required. Several make one key together, {@code name:key1:key2}. */
    String[] key() default {};

    /**
     * An expression for what must be equal in all calls with the key, for example the amount. By default all arguments
     * as JSON, with sorted properties.
     */
    String fingerprint() default "";

    /** How long the key and the result are kept at least: longer than any caller repeats a call. */
    String keepFor() default "7d";

    /**
     * The longest wait for a call with the same key that runs: a duration, {@code 0} to answer at once, or {@code
     * unlimited}. By default {@code holdfast.wait-time}, 10 s.
     */
    String waitTime() default "";

    /** The name or qualifier of the {@link io.holdfast.LockClient} bean; the primary one by default. */
    String client() default "";

    /**
     * Where key and result are kept: by default in the database, together with the effects. {@link
     * OnceRecord#STORE_AT_LEAST_ONCE} needs no database and promises less.
     */
    OnceRecord record() default OnceRecord.DATABASE;

    /** The name or qualifier of the transaction manager; by default that of {@code @Transactional}, or the primary one. */
    String transactionManager() default "";
}
