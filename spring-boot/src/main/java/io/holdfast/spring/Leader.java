package io.holdfast.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.aot.hint.annotation.Reflective;

/**
 * Runs the method only where this process leads: of all processes of the application, at most one. Elsewhere the call
 * is skipped, without an error.
 *
 * <pre>{@code
 * @Scheduled(fixedDelay = 1000)
 * @Leader("outbox")
 * public void send() { … }
 * }</pre>
 *
 * <p>The context campaigns for each such leadership once, by {@link io.holdfast.LockClient#leadership}: from the time when
 * all its beans are there and have started, until it begins to close. It closes its leaderships before anything else
 * stops. Until the store has answered for the first time, calls are skipped.
 *
 * <p>At a revocation, the threads of running calls are interrupted, and publishers and stages cancelled. The lock is
 * released when the calls have ended, or when {@link io.holdfast.LeadershipOptions#stopWithin} has passed. Of the time
 * to stop, see {@link io.holdfast.Leadership}.
 *
 * <p>A skipped call returns null, an empty {@code Optional}, a stage completed with null, or an empty {@code Mono} or
 * {@code Flux}; methods that return a primitive are refused. Publishers and suspending functions of Kotlin run until
 * they end; the process must lead when they are subscribed to. A parameter of type {@link io.holdfast.Term} receives
 * the term; callers pass null. Without such a parameter, {@link Leaderships#term} has it. Together with {@link Locked},
 * the leader alone asks for the lock.
 *
 * <p>On a bean of type {@link io.holdfast.LeadershipListener}, by its class or its {@code @Bean} method, the annotation
 * calls the listener: there is one for a name. On no other class.
 *
 * <p>A call of {@code this.method()} inside the bean is not intercepted, as with all proxies. Invalid declarations fail
 * at startup.
 */
@Target({ElementType.METHOD, ElementType.TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Reflective
public @interface Leader {

    /** The name of the leadership; {@code ${…}} is resolved. The leader holds the lock {@code leader:NAME}. */
    String value();

    /** The name or qualifier of the {@link io.holdfast.LockClient} bean; the primary one by default. */
    String client() default "";
}
