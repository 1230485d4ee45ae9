package io.holdfast.spring;

import io.holdfast.LockTimeoutException;
import java.lang.reflect.Method;
import org.jspecify.annotations.Nullable;

/**
 * Answers calls of {@link Locked} and {@link Limited} methods in place of the method, when others hold the lock or the
 * permits for the whole wait time. As
 * a bean, it is for all methods that have neither a fallback nor {@link OnBusy#SKIP}; {@link Locked#failureHandler}
 * names one for a method. Not for a store that failed: that is always thrown.
 *
 * <pre>{@code
 * @Bean
 * LockFailureHandler busy() {
 *     return (method, arguments, failure) -> {
 *         throw new RefundInProgressException(failure.lockNames());
 *     };
 * }
 * }</pre>
 *
 * <p>Runs without the lock, on the calling thread; for methods that return a stage or a publisher, on any thread. Must
 * be thread-safe.
 */
@FunctionalInterface
public interface LockFailureHandler {

    /**
     * Returns the result of the call, or throws an exception for the caller.
     *
     * @param method the locked method of the target class
     * @param arguments the arguments of the call
     * @param failure says which locks, how long the call waited and, if it is known, who holds them
     * @return a value of the method's return type: null if that is {@code void}, and a stage or a publisher if the
     *     method returns one
     * @throws Throwable passed to the caller; one that is checked must be declared by the method
     */
    @Nullable
    Object handle(Method method, @Nullable Object[] arguments, LockTimeoutException failure) throws Throwable;
}
