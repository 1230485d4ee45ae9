package io.holdfast.spring;

import io.holdfast.Lease;
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
 * Runs the method under a lock: one caller at a time, over all instances of the application.
 *
 * <pre>{@code
 * @Locked(name = "order.refund", key = "#orderId", waitTime = "10s")
 * public void refund(long orderId) { … }
 * }</pre>
 *
 * <p>The lock name is {@link #name}, or {@code name:key}. On a class, the annotation applies to the public methods,
 * including those of subclasses; an annotation on a method replaces it. Several annotations on one method are one
 * acquisition: all names, sorted, all or none. They must agree in everything but name, key and condition. It can
 * annotate other annotations, with {@code @AliasFor}.
 *
 * <p>The lock is acquired before a transaction of the method begins and released after it has ended. If the caller has
 * a transaction already, the lock is released after that one, unless the method returns a stage or publisher. Just
 * before a commit the leases of the thread are verified; a lost one rolls back. The lock is inside {@code @Async}, and
 * inside {@code @Retryable} of Spring Framework 7.
 *
 * <p>Reentrant on one thread: a nested call that needs a name which its caller holds proceeds without a command. So are
 * publishers and suspending functions of Kotlin, by Reactor's context, on whatever thread.
 *
 * <p>A parameter of type {@link Lease} receives the lease (callers pass null or {@link #LEASE}), and one of type {@link
 * io.holdfast.MultiLease} receives all of them.
 *
 * <p>Methods that return a {@code CompletionStage}, a {@code Mono} or a {@code Flux} hold the lock until that
 * completes, fails or is cancelled, and no thread waits. So do suspending functions, until their coroutine has ended.
 * The client's callback executor calls a method that returns a stage.
 *
 * <p>A call of {@code this.method()} inside the bean is not intercepted, as with all proxies, so a parameter of type
 * Lease is what the caller has passed. Invalid declarations fail at startup. Durations look like {@code 500ms}, {@code
 * 10s}, {@code 5m} or {@code PT10S}; {@code ${…}} is resolved in them and in {@link #name}.
 */
@Target({ElementType.METHOD, ElementType.TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@Documented
@Reflective
@Repeatable(Locked.Several.class)
public @interface Locked {

    /**
     * The argument of callers for a parameter of type {@link Lease}; null serves as well. If nothing intercepts the
     * call, this one says so: each of its methods throws {@link IllegalStateException}. In Kotlin: {@code lease: Lease
     * = Locked.LEASE}.
     */
    Lease LEASE = NoLease.make();

    /** An alias of {@link #name}. */
    @AliasFor("name")
    String value() default "";

    /**
     * The constant part of the lock name; also a metric tag. Required. Do not derive it from class and method names: a
     * rename would split the lock between old and new instances.
     */
    @AliasFor("value")
    String name() default "";

    /**
     * The keys. Several keys are several locks, each {@code name:value}, unless {@link #join} is set. All are acquired
     * together, sorted, all or none; a collection or array is one lock for each element.
     *
     * <p>Expressions as in {@code @Cacheable}: parameters as {@code #name}, {@code #p0} or {@code #a0}, beans as {@code
     * @name}, {@code #root.target}, {@code #root.method}, {@code #root.args}. An {@code Optional} counts as its
     * content. A call whose key is null, empty, without elements, or an object without a {@code toString()} of its own
     * throws {@link IllegalArgumentException}; so does a null part of a concatenation.
     */
    String[] key() default {};

    /**
     * Makes one lock of several keys, {@code name:value1:value2}, in their order. A call in which one of them is a
     * collection or an array throws {@link IllegalArgumentException}.
     */
    boolean join() default false;

    /**
     * The callers that the method excludes: by default, every other caller. A method that reads or writes has one name.
     * A nested call may read under the write lock of its caller, but one that would write under the read lock of its
     * caller throws {@link IllegalStateException}. The lease of a reader does not fence.
     */
    LockMode mode() default LockMode.EXCLUSIVE;

    /**
     * The longest wait for all locks together: a duration, {@code 0} for one attempt, or {@code unlimited}. By default
     * {@code holdfast.wait-time}, 10 s.
     */
    String waitTime() default "";

    /**
     * A fixed length of the lease. It is not renewed, and the lock ends by then in any case. By default it is renewed.
     */
    String leaseTime() default "";

    /** The longest time for which the lease is renewed, so that a method that hangs does not hold the lock forever. */
    String holdAtMost() default "";

    /**
     * The shortest time for which the lock stays taken, counted from its grant, even when the method returns sooner. A
     * store that can keep the lock without the process keeps it when the process ends, too. No thread waits.
     */
    String holdAtLeast() default "";

    /** The behavior when others hold the lock for the whole wait time. */
    OnBusy onBusy() default OnBusy.THROW;

    /**
     * A method that is called instead when others hold the lock for the whole wait time. It has the same parameters or
     * none, and a return type that fits. It runs without the lock. {@code "method"} is one of the same class, called on
     * the object itself; {@code "@bean.method"} is one of a bean, called with all that its proxy does.
     */
    String fallback() default "";

    /**
     * The handler that answers instead when others hold the lock for the whole wait time: the bean of this class, or an
     * object that is made for it. By default, the bean of type {@link LockFailureHandler}, if there is one.
     */
    Class<? extends LockFailureHandler> failureHandler() default LockFailureHandler.class;

    /** The behavior when the lease is lost while the method runs. */
    OnLost onLost() default OnLost.THROW;

    /** An expression, like a key. If it is false, the call does not need this lock. */
    String condition() default "";

    /** The name or qualifier of the {@link io.holdfast.LockClient} bean; the primary one by default. */
    String client() default "";

    /** Several annotations on one method. */
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
