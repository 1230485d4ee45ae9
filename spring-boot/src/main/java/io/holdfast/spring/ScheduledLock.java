package io.holdfast.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.core.annotation.AliasFor;

/**
 * Runs a scheduled method on one node: a node that finds the lock taken skips this firing, without a wait and without
 * an error.
 *
 * <pre>{@code
 * @Scheduled(cron = "0 0 3 * * *")
 * @ScheduledLock(name = "nightly", atLeast = "1m")
 * public void nightly() { … }
 * }</pre>
 *
 * <p>Set {@link #atLeast}: nodes do not fire at the same instant, so that a short job would run on a second node after
 * it has ended on the first. The lock is renewed while the method runs, and free soon after its process has died.
 *
 * <p>The same as {@link Locked} with {@code waitTime = "0"} and {@code onBusy = SKIP}.
 */
@Target({ElementType.METHOD, ElementType.ANNOTATION_TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Locked(waitTime = "0", onBusy = OnBusy.SKIP)
public @interface ScheduledLock {

    /** The constant part of the lock name; see {@link Locked#name}. */
    @AliasFor(annotation = Locked.class, attribute = "name")
    String name();

    /**
     * Expressions for more parts of the name; see {@link Locked#key}. For schedulers that pass the time of the firing
     * to the method: with that time as the key, each firing runs once, however late a node is. Successive firings then
     * have different locks and may overlap.
     */
    @AliasFor(annotation = Locked.class, attribute = "key")
    String[] key() default {};

    /**
     * The shortest time for which other nodes skip the job, counted from its start: longer than the difference of the
     * nodes' clocks, shorter than the time to the next firing. By default, the lock is free when the method has ended.
     */
    @AliasFor(annotation = Locked.class, attribute = "holdAtLeast")
    String atLeast() default "";

    /**
     * The longest time for which the lock is renewed, so that a job that hangs does not keep other nodes from it
     * forever. By default, there is no limit.
     */
    @AliasFor(annotation = Locked.class, attribute = "holdAtMost")
    String atMost() default "";

    /** The name or qualifier of the {@link io.holdfast.LockClient} bean; the primary one by default. */
    @AliasFor(annotation = Locked.class, attribute = "client")
    String client() default "";
}
