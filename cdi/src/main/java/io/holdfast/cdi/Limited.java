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
 * Runs the method under a permit: at most so many callers at a time, over all instances of the application.
 *
 * <pre>{@code
 * @Limited(name = "export", permits = "5", waitTime = "1m")
 * public void export(Report report) { … }
 * }</pre>
 *
 * <p>The permits are those of {@link io.holdfast.LockClient#permits}, which says what they promise. The attributes that
 * {@link Locked} has, too, mean the same. Together with {@link Locked}, the lock is outside: a caller that waits for the
 * lock takes no permit away from others.
 *
 * <p>A nested call for the same permits on the same thread runs under the permit of its caller. It throws {@link
 * IllegalStateException} if its weight is larger.
 */
@HoldfastBinding
@InterceptorBinding
@Target({ElementType.METHOD, ElementType.TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@Documented
public @interface Limited {

    /** Another way to give the {@link #name}. */
    @Nonbinding
    String value() default "";

    /** The constant part of the name. Required. It has no connection with a lock of this name. */
    @Nonbinding
    String name() default "";

    /**
     * The number of permits, from 1 to 1,048,576. Required. The limit is a part of each request, so all methods
     * and instances that use the name should have the same one.
     */
    @Nonbinding
    String permits() default "";

    /** The number of permits that a call takes, all together: at most as many as there are. */
    @Nonbinding
    String weight() default "1";

    /** Values of the call for more parts of the name, each with permits of its own; see {@link Locked#key}. */
    @Nonbinding
    String key() default "";

    /**
     * The longest wait: a duration, {@code 0} for one attempt, or {@code unlimited}. By default {@code
     * holdfast.wait-time}, 10 s.
     */
    @Nonbinding
    String waitTime() default "";

    /** A fixed length of the lease. It is not renewed, and ends by then in any case. By default it is renewed. */
    @Nonbinding
    String leaseTime() default "";

    /** The longest time for which the lease is renewed, so that a method that hangs does not hold permits forever. */
    @Nonbinding
    String holdAtMost() default "";

    /** The shortest time for which the permits stay taken, counted from the grant, even when the method returns sooner. */
    @Nonbinding
    String holdAtLeast() default "";

    /** The behavior when others hold the permits for the whole wait time. */
    @Nonbinding
    OnBusy onBusy() default OnBusy.THROW;

    /** The name ({@code @Named}) of the {@link io.holdfast.LockClient} bean; by default the one without a qualifier. */
    @Nonbinding
    String client() default "";
}
