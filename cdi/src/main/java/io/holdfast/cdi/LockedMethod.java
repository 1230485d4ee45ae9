package io.holdfast.cdi;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * A method and its annotation, read and checked.
 *
 * @param place the annotation and the method, for messages
 * @param key null: the name alone is the lock name
 * @param options without a wait time if the default applies
 * @param waits whether the default wait time applies
 * @param isStage whether the method returns a stage, so that its work goes on after the return
 * @param permits how many permits of the name there are; 0: the name is that of a lock
 * @param weight how many permits a call takes
 * @param once null: each call does the work
 * @param leaseParameter the index of the parameter for the lease; -1 for none
 */
record LockedMethod(
        String place,
        Method method,
        String name,
        @Nullable KeyTemplate key,
        LockOptions options,
        boolean waits,
        Duration holdAtLeast,
        OnBusy onBusy,
        boolean isStage,
        int leaseParameter,
        String client,
        int permits,
        int weight,
        @Nullable Once once) {

    /** Returns the lock name for these arguments. */
    String lockName(@Nullable Object[] arguments) {
        return key == null ? name : name + ":" + key.text(arguments);
    }

    Lease acquire(LockClient client, String lockName, LockOptions how) throws InterruptedException {
        return permits == 0
                ? client.acquire(lockName, how)
                : client.permits(lockName, permits).weight(weight).acquire(how);
    }

    CompletionStage<Lease> acquireAsync(LockClient client, String lockName, LockOptions how) {
        return permits == 0
                ? client.acquireAsync(lockName, how)
                : client.permits(lockName, permits).weight(weight).acquireAsync(how);
    }

    /** Returns the result of a skipped call. */
    @SuppressWarnings("FutureReturnValueIgnored") // the caller receives it
    @Nullable
    Object skipped() {
        if (isStage) {
            return CompletableFuture.completedFuture(null);
        }
        return method.getReturnType() == Optional.class ? Optional.empty() : null;
    }

    /** Returns whether the method may throw an InterruptedException. */
    boolean declaresInterrupt() {
        return Arrays.stream(method.getExceptionTypes())
                .anyMatch(type -> type.isAssignableFrom(InterruptedException.class));
    }
}
