package io.holdfast.cdi;

import jakarta.enterprise.util.Nonbinding;
import jakarta.interceptor.InterceptorBinding;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Runs the method under a lock: one caller at a time, over all instances of the application.
 *
 * <pre>{@code
 * @Locked(name = "order.refund", key = "{orderId}", waitTime = "10s")
 * public void refund(long orderId) { … }
 * }</pre>
 *
 * <p>The lock name is {@link #name}, or {@code name:key}. On a class or a stereotype, the annotation applies to the
 * methods that have none of their own.
 *
 * <p>The lock is acquired before a transaction of the method begins and released after it has ended. If the caller has
 * a transaction already, the lock is released after that one, unless the method returns a stage.
 *
 * <p>Reentrant on one thread: a nested call that needs a lock which its caller holds proceeds without a command. A
 * parameter of type {@link io.holdfast.Lease} receives the lease; callers pass null. When a lease is lost while the
 * method runs, its result is dropped and the caller gets {@link io.holdfast.LeaseLostException}.
 *
 * <p>A method that returns a {@code CompletionStage} or {@code CompletableFuture} holds the lock until that completes,
 * and no thread waits: the client's callback executor calls the method. Other types whose work goes on after the
 * return, such as {@code Uni} or {@code Future}, are refused.
 *
 * <p>Invalid declarations end the start of the container. Durations look like {@code
 * 500ms}, {@code 10s}, {@code 5m} or {@code PT10S}.
 */
@HoldfastBinding
@InterceptorBinding
@Target({ElementType.METHOD, ElementType.TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@Documented
public @interface Locked {

    /** Another way to give the {@link #name}. */
    @Nonbinding
    String value() default "";

    /**
     * The constant part of the lock name. Required. Do not derive it from class and method names: a rename would split
     * the lock between old and new instances.
     */
    @Nonbinding
    String name() default "";

    /**
     * A text with values of the call: <code>{0}</code> is the first argument, <code>{orderId}</code> the one of this
     * name, and <code>{0.customer.id}</code> reads getters or record components. Several values are one key: <code>
     * {0}:{1}</code>. There are no expressions.
     *
     * <p>Parameter names need the compiler option {@code -parameters}, which Quarkus sets. An {@code Optional} counts as
     * its content. A call throws {@link IllegalArgumentException} if a value is null, empty, a collection, an array, or
     * an object without a {@code toString()} of its own.
     */
    @Nonbinding
    String key() default "";

    /**
     * The longest wait: a duration, {@code 0} for one attempt, or {@code unlimited}. By default {@code
     * holdfast.wait-time}, 10 s.
     */
    @Nonbinding
    String waitTime() default "";

    /**
     * A fixed length of the lease. It is not renewed, and the lock ends by then in any case. By default it is renewed.
     */
    @Nonbinding
    String leaseTime() default "";

    /** The longest time for which the lease is renewed, so that a method that hangs does not hold the lock forever. */
    @Nonbinding
    String holdAtMost() default "";

    /**
     * The shortest time for which the lock stays taken, counted from its grant, even when the method returns sooner. A
     * store that can keep the lock without the process keeps it when the process ends, too. No thread waits.
     */
    @Nonbinding
    String holdAtLeast() default "";

    /** The behavior when others hold the lock for the whole wait time. */
    @Nonbinding
    OnBusy onBusy() default OnBusy.THROW;

    /** The name ({@code @Named}) of the {@link io.holdfast.LockClient} bean; by default the one without a qualifier. */
    @Nonbinding
    String client() default "";
}
