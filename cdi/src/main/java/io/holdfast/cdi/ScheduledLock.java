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
 * Runs a scheduled method on one node: a node that finds the lock taken skips this firing, without a wait and without
 * an error.
 *
 * <pre>{@code
 * @Scheduled(cron = "0 0 3 * * ?")
 * @ScheduledLock(name = "nightly", atLeast = "1m")
 * void nightly() { … }
 * }</pre>
 *
 * <p>Set {@link #atLeast}: nodes do not fire at the same instant, so that a short job would run on a second node after
 * it has ended on the first. The lock is renewed while the method runs, and free soon after its process has died.
 *
 * <p>The same as {@link Locked} with {@code waitTime = "0"} and {@code onBusy = SKIP}. It works with every scheduler
 * that calls the method on the bean: Quarkus, Jakarta Concurrency, EJB timers.
 */
@HoldfastBinding
@InterceptorBinding
@Target({ElementType.METHOD, ElementType.TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@Documented
public @interface ScheduledLock {

    /** The constant part of the lock name; see {@link Locked#name}. */
    @Nonbinding
    String name();

    /** Values of the call for more parts of the name; see {@link Locked#key}. */
    @Nonbinding
    String key() default "";

    /**
     * The shortest time for which other nodes skip the job, counted from its start: longer than the difference of the
     * nodes' clocks, shorter than the time to the next firing. By default, the lock is free when the method has ended.
     */
    @Nonbinding
    String atLeast() default "";

    /**
     * The longest time for which the lock is renewed, so that a job that hangs does not keep other nodes from it
     * forever. By default, there is no limit.
     */
    @Nonbinding
    String atMost() default "";

    /** The name ({@code @Named}) of the {@link io.holdfast.LockClient} bean; by default the one without a qualifier. */
    @Nonbinding
    String client() default "";
}
