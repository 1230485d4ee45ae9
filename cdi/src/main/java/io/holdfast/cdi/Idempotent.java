package io.holdfast.cdi;

import jakarta.enterprise.util.Nonbinding;
import jakarta.interceptor.InterceptorBinding;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Runs the method once for each key, over all instances of the application; later calls receive the stored result.
 *
 * <pre>{@code
 * @Transactional
 * @Idempotent(name = "payment.callback", key = "{callback.paymentId}", keepFor = "30d")
 * public Receipt settle(Callback callback) { … }
 * }</pre>
 *
 * <p>The call acquires the lock {@code name:key}. In the transaction of {@code @Transactional}, it writes the key with
 * {@link io.holdfast.jdbc.JdbcOnce}, on a connection of the DataSource bean, and runs the method. Key, result and effects
 * in the database are committed together, or none of them is. If the method throws anything, the transaction is rolled
 * back, and the next call runs it. Effects outside of that database happen at least once.
 *
 * <p>A second call waits for the first: up to {@link #waitTime}, and then throws {@link
 * io.holdfast.LockTimeoutException}. A call whose key was used with another {@link #fingerprint} throws {@link
 * io.holdfast.OnceConflictException} and runs nothing.
 *
 * <p>Texts are stored as they are, and other results as JSON by the ObjectMapper bean of Jackson 2, by the method's
 * generic return type. Methods that return nothing, null or an {@code Optional} work, too. A result that cannot be read
 * back fails the first call.
 *
 * <p>Needs Jakarta Transactions, a DataSource whose connections take part in them, the module holdfast-jdbc and the table
 * {@code holdfast_once}, from which one instance purges old keys each hour.
 *
 * <p>The container refuses at its start: a method without {@code @Transactional}, also on its class; one that returns a
 * stage; a table that is missing; and a DataSource whose connections do not commit after each statement outside of a
 * transaction, since nobody could tell that it takes part in one. A call without a transaction throws {@link
 * IllegalStateException}.
 *
 * @see <a href="https://github.com/holdfast-lock/holdfast/blob/main/docs/idempotent.md">A request that arrives twice</a>
 */
@HoldfastBinding
@InterceptorBinding
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@Documented
public @interface Idempotent {

    /**
     * The constant part of the lock name and of the stored key. It must never change while keys are kept: under another
     * name, the work of every key would be done again.
     */
    @Nonbinding
    String name();

    /** Values of the call, as in {@link Locked#key}. */
    @Nonbinding
    String key();

    /**
     * What must be equal in all calls with the key, for example <code>{payment.amount}</code>; as in {@link Locked#key}.
     * By default the texts of all arguments.
     */
    @Nonbinding
    String fingerprint() default "";

    /** How long the key and the result are kept at least: longer than any caller repeats a call. */
    @Nonbinding
    String keepFor() default "7d";

    /**
     * The longest wait for a call with the same key that runs: a duration, {@code 0} to answer at once, or {@code
     * unlimited}. By default {@code holdfast.wait-time}, 10 s.
     */
    @Nonbinding
    String waitTime() default "";

    /** The name ({@code @Named}) of the {@link io.holdfast.LockClient} bean; by default the one without a qualifier. */
    @Nonbinding
    String client() default "";

    /** The name ({@code @Named}) of the DataSource bean; by default the one without a qualifier. */
    @Nonbinding
    String dataSource() default "";
}
