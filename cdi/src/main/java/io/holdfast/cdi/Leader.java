package io.holdfast.cdi;

import jakarta.enterprise.util.Nonbinding;
import jakarta.interceptor.InterceptorBinding;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Runs the method only where this process leads: of all processes of the application, at most one. Elsewhere the call
 * is skipped, without an error.
 *
 * <pre>{@code
 * @Scheduled(every = "1s")
 * @Leader("outbox")
 * void send() { … }
 * }</pre>
 *
 * <p>The container campaigns for each such leadership once, by {@link io.holdfast.LockClient#leadership}: from the end of
 * its start until it begins to end. It closes its leaderships before other beans observe {@code Shutdown}. Until the
 * store has answered for the first time, calls are skipped.
 *
 * <p>At a revocation, the threads of running calls are interrupted, and stages cancelled. The lock is released when the
 * calls have ended, or when {@code holdfast.leader.stop-within} has passed. In a transaction, the term is verified just
 * before the commit.
 *
 * <p>A skipped call returns null, an empty {@code Optional}, or a stage completed with null; methods that return a
 * primitive are refused. A parameter of type {@link io.holdfast.Term} receives the term; callers pass null. Without such
 * a parameter, {@link Leaderships#term} has it. Together with {@link Locked} and the other annotations, the leader alone
 * asks for the lock.
 *
 * <p>Invalid declarations end the start of the container.
 */
@HoldfastBinding
@InterceptorBinding
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@Documented
public @interface Leader {

    /** The name of the leadership. The leader holds the lock {@code leader:NAME}. */
    @Nonbinding
    String value();

    /** The name ({@code @Named}) of the {@link io.holdfast.LockClient} bean; by default the one without a qualifier. */
    @Nonbinding
    String client() default "";
}
