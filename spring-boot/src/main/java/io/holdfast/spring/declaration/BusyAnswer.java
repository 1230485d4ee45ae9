package io.holdfast.spring.declaration;

import io.holdfast.LockTimeoutException;
import org.jspecify.annotations.Nullable;

/** Answers a call whose lock others hold for the whole wait time, in place of the method. Thread-safe. */
@FunctionalInterface
public interface BusyAnswer {

    /**
     * Returns the result of the call, or throws an exception for the caller.
     *
     * @param target the object that has the locked method
     */
    @Nullable
    Object answer(Object target, @Nullable Object[] arguments, LockTimeoutException busy) throws Throwable;
}
