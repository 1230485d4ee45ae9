package io.holdfast.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Repeatable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.aot.hint.annotation.Reflective;
import org.springframework.core.annotation.AliasFor;

/**
 * The method runs while its lock is held, by one caller at a time over all instances of the application.
 *
 * <pre>{@code
 * @Locked(name = "order.refund", key = "#orderId", waitTime = "10s")
 * public void refund(long orderId) { … }
 * }</pre>
 *
 * <p>The lock name is {@link #name} if there is no key, else {@code name:key}. On a class it applies to the public methods,
 * those declared in subclasses included; one on a method replaces it. Several on one method are one acquisition: all names,
 * sorted, all or none; they must agree in everything but name, key and condition. It can be an annotation of an annotation, with
 * {@code @AliasFor}.
 *
 * <p>The lock is taken before a transaction of the method begins and released after it ended; if the caller has a
 * transaction already, it is released after that one, unless it returns a stage or publisher. Just before a commit the leases of the thread are verified, and a lost
 * one rolls back. Inside {@code @Retryable} (of Spring Framework 7) and {@code @Async}.
 *
 * <p>Reentrant on one thread: a nested call that needs a name which its caller holds proceeds without a command.
 *
 * <p>A parameter of type {@link io.holdfast.Lease} receives the lease (callers pass null), one of type {@link
 * io.holdfast.MultiLease} all of them.
 *
 * <p>Methods that return a {@code CompletionStage}, a {@code Mono} or a {@code Flux} hold the lock until that completes,
 * fails or is cancelled, and no thread waits. One that returns a stage is called on the client's callback executor.
 *
 * <p>As with everything that is done by proxies: a call of {@code this.method()} inside the bean is not intercepted. Anything that
 * can be seen to be wrong stops the start of the application. Durations are such as {@code 500ms}, {@code 10s}, {@code
 * 5m} or {@code PT10S}; {@code ${…}} is resolved in all of them and in {@link #name}.
 */
@Target({ElementType.METHOD, ElementType.TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@Documented
@Reflective
@Repeatable(Locked.Several.class)
public @interface Locked {

    /** The same as {@link #name}. */
    @AliasFor("name")
    String value() default "";

    /**
     * What is locked, without what changes from call to call: it is also the tag of meters. Required. It should not be made of
     * class and method names, which are changed without a thought of the instances that still run the old ones.
     */
    @AliasFor("value")
    String name() default "";

    /**
     * Expressions as in {@code @Cacheable}: parameters as {@code #name}, {@code #p0} or {@code #a0}, beans as {@code @name},
     * {@code #root.target}, {@code #root.method}, {@code #root.args}. Each gives a lock of its own, {@code name:value}; a collection or an array
     * gives one for each element. They are locked together, sorted, all or none. A null, an empty one, a collection without
     * elements, or an object without a {@code toString()} of its own is an {@link IllegalArgumentException}; of an
     * {@code Optional} it is what is in it.
     */
    String[] key() default {};

    /**
     * How long to wait for all of the locks together: a duration, {@code 0} for one attempt, {@code unlimited}; {@code
     * holdfast.wait-time} (10 s) by default.
     */
    String waitTime() default "";

    /** A lease of this length, not renewed: the lock ends by then whatever happens. Without it the lease is renewed. */
    String leaseTime() default "";

    /** Renewed, but for no longer than this in all: a method that hangs does not hold for ever. */
    String holdAtMost() default "";

    /**
     * The lock stays taken for at least this time, counted from its grant, also when the method is done sooner, and also if
     * this process ends meanwhile (as far as the store can keep it without us). No thread waits for it.
     */
    String holdAtLeast() default "";

    /** What to do when others hold the lock for all of the wait time. */
    OnBusy onBusy() default OnBusy.THROW;

    /**
     * A method of the same class that is called instead when others hold the lock for all of the wait time: with the same
     * parameters or with none, and a return type that fits. It runs without the lock.
     */
    String fallback() default "";

    /** What happens when the lease is lost while the method runs. */
    OnLost onLost() default OnLost.THROW;

    /** An expression like a key; where it is false, this lock is not needed for this call. */
    String condition() default "";

    /** The name or qualifier of the {@link io.holdfast.LockClient} bean; the primary one by default. */
    String client() default "";

    /** Several on one method. */
    @Target({ElementType.METHOD, ElementType.TYPE})
    @Retention(RetentionPolicy.RUNTIME)
    @Inherited
    @Documented
    @Reflective
    @interface Several {

        /** The annotations. */
        Locked[] value();
    }
}
