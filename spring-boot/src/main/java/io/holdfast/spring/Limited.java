package io.holdfast.spring;

import io.holdfast.Lease;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.aot.hint.annotation.Reflective;
import org.springframework.core.annotation.AliasFor;

/**
 * Runs the method under a permit: at most so many callers at a time, over all instances of the application.
 *
 * <pre>{@code
 * @Limited(name = "export", permits = "5", waitTime = "1m")
 * public void export(Report report) { … }
 * }</pre>
 *
 * <p>The permits are those of {@link io.holdfast.LockClient#permits}, which says what they promise: a permit is renewed
 * while the method runs, callers are served in strict order, and a lost permit means that more callers than the limit
 * may run for a moment. Its fencing token does not fence.
 *
 * <p>The attributes that {@link Locked} has, too, mean the same, and all that is said there of classes, transactions,
 * stages, publishers, suspending functions, parameters of type {@link Lease}, durations and placeholders applies.
 * Different are:
 *
 * <ul>
 *   <li>A method has one annotation of this kind. Several keys make one name, {@code name:key1:key2}.
 *   <li>Together with {@link Locked}, the lock is outside, whatever the order of the annotations: a caller that waits
 *       for the lock takes no permit away from others. A parameter of type {@code Lease} then receives the lease of the
 *       lock.
 *   <li>A nested call for the same permits, on the same thread or in the same publisher, runs under the permit of its
 *       caller and counts once. It throws {@link IllegalStateException} if its weight is larger than that of its caller.
 *   <li>{@link LockedDefaults#outerTransaction} is not asked: a permit excludes nobody.
 * </ul>
 *
 * <p>The store must have permits: Redis in mode {@code lua}, ZooKeeper, a database, or memory. On any other store the
 * application does not start.
 */
@Target({ElementType.METHOD, ElementType.TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@Documented
@Reflective
public @interface Limited {

    /** An alias of {@link #name}. */
    @AliasFor("name")
    String value() default "";

    /** The constant part of the name; also a metric tag. Required. It has no connection with a lock of this name. */
    @AliasFor("value")
    String name() default "";

    /**
     * The number of permits, from 1 to 1,048,576: a number, a placeholder {@code ${…}}, or an expression like a
     * key, which each call evaluates. Required. The limit is a part of each request, so all methods and instances that
     * use the name should have the same one. Two different constants in one application stop its start.
     */
    String permits() default "";

    /** The number of permits that a call takes, all together: like {@link #permits}, and at most as many. */
    String weight() default "1";

    /**
     * Expressions as in {@link Locked#key}, which make one name, {@code name:key1:key2}, with permits of its own. A
     * call in which one of them is a collection or an array throws {@link IllegalArgumentException}.
     */
    String[] key() default {};

    /**
     * The longest wait: a duration, {@code 0} for one attempt, or {@code unlimited}. By default {@code
     * holdfast.wait-time}, 10 s.
     */
    String waitTime() default "";

    /** A fixed length of the lease. It is not renewed, and ends by then in any case. By default it is renewed. */
    String leaseTime() default "";

    /** The longest time for which the lease is renewed, so that a method that hangs does not hold permits forever. */
    String holdAtMost() default "";

    /** The shortest time for which the permits stay taken, counted from the grant, even when the method returns sooner. */
    String holdAtLeast() default "";

    /** The behavior when others hold the permits for the whole wait time. */
    OnBusy onBusy() default OnBusy.THROW;

    /**
     * A method that is called instead when others hold the permits for the whole wait time; see {@link
     * Locked#fallback}.
     */
    String fallback() default "";

    /** The handler that answers instead when others hold the permits; see {@link Locked#failureHandler}. */
    Class<? extends LockFailureHandler> failureHandler() default LockFailureHandler.class;

    /** The behavior when the lease is lost while the method runs. */
    OnLost onLost() default OnLost.THROW;

    /** An expression, like a key. If it is false, the call needs no permit. */
    String condition() default "";

    /** The name or qualifier of the {@link io.holdfast.LockClient} bean; the primary one by default. */
    String client() default "";
}
