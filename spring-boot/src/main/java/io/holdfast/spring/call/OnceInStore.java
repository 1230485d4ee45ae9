package io.holdfast.spring.call;

import static java.util.Objects.requireNonNull;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockStoreException;
import io.holdfast.OnceConflictException;
import io.holdfast.OnceOutcome;
import io.holdfast.StoreOnce;
import io.holdfast.spi.StageWait;
import io.holdfast.spring.declaration.LockedDefinitionException;
import io.holdfast.spring.declaration.LockedOperation;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.env.Environment;
import org.springframework.expression.EvaluationContext;
import reactor.util.context.ContextView;

/** Does the work of one method once for each key, with its record in the store of the locks. Thread-safe. */
record OnceInStore(LockedOperation operation, OnceValues values, OnceCalls calls, Set<String> running)
        implements OnceCalls.Work {

    /** @throws LockedDefinitionException if the store keeps no records, or the result cannot be stored */
    static OnceInStore of(
            ConfigurableListableBeanFactory beans,
            LockedOperation operation,
            @Nullable OnceJson json,
            OnceCalls calls) {
        OnceValues values = new OnceValues(operation, json);
        values.check();
        LockClient client = new Clients(beans).get(operation.client(), operation.place());
        String startup = beans.getBean(Environment.class).getProperty("holdfast.startup", "");
        if (!startup.strip().equalsIgnoreCase("lazy")) {
            try {
                client.once().requireStore();
            } catch (LockStoreException e) {
                throw new LockedDefinitionException(
                        operation.place(), String.valueOf(e.getMessage()), "record = OnceRecord.DATABASE");
            }
        }
        return new OnceInStore(operation, values, calls, ConcurrentHashMap.newKeySet());
    }

    /** One call, under the lease of its key. */
    final class Attempt {

        private final StoreOnce once;
        private final LockedCall call;
        private final Lease lease;
        private final String fingerprint;
        private final String owner;

        private final AtomicBoolean isOpen = new AtomicBoolean(true);

        private OnceOutcome outcome = OnceOutcome.FAILED;

        /** Whether the record was looked for: a conflict after that is one of another key, inside the method. */
        private volatile boolean found;

        private Attempt(LockedCall call, Lease lease, @Nullable EvaluationContext context) {
            this.once = call.client()
                    .once()
                    .keepFor(requireNonNull(operation.once()).keepFor());
            this.call = call;
            this.lease = lease;
            this.fingerprint = values.fingerprint(call, context);
            // Of one lease: a call that has lost its lock may still run when the next one begins.
            this.owner = lease.holderId() + ' ' + lease.fencingToken();
            if (!running.add(owner)) {
                throw new IllegalStateException(operation.place() + " asks for its own key "
                        + LockedCall.quoted(lease.name()) + " (expected: a key for each piece of work)");
            }
        }

        CompletionStage<Optional<StoreOnce.Done>> find() {
            return once.find(lease, fingerprint).thenApply(done -> {
                found = true;
                return done;
            });
        }

        /** Keeps the result, unless it is an answer that says the server failed. */
        CompletionStage<Void> keep(@Nullable Object result) {
            if (values.isFailure(result)) {
                return CompletableFuture.completedFuture(null);
            }
            return once.keep(lease, fingerprint, values.write(result)).thenRun(() -> outcome = OnceOutcome.DONE);
        }

        /** Returns the stored result. */
        @Nullable
        Object repeated(StoreOnce.Done done) {
            Object result = values.replay(call, done.result());
            outcome = OnceOutcome.REPEATED;
            return result;
        }

        /** Returns what the caller receives for a failure. */
        Throwable failed(Throwable failure) {
            if (!found && failure instanceof OnceConflictException conflict) {
                outcome = OnceOutcome.CONFLICT;
                return values.conflict(conflict);
            }
            return failure;
        }

        /** Ends the call. A cancellation may come after its end. */
        void close() {
            if (isOpen.compareAndSet(true, false)) {
                running.remove(owner);
                calls.ended(lease.name(), outcome);
            }
        }
    }

    /** @param subscriber Reactor's context of the call */
    Attempt begin(LockedCall call, Lease lease, ContextView subscriber) {
        if (OuterTransactions.includes(subscriber, operation.method(), targetClass())) {
            throw inTransaction();
        }
        return new Attempt(call, lease, call.context());
    }

    private Class<?> targetClass() {
        return requireNonNull(operation.once()).targetClass();
    }

    private IllegalStateException inTransaction() {
        return new IllegalStateException(operation.place()
                + " is called inside a transaction, which may roll its work back after its result was stored"
                + " (expected: a call outside of a transaction, or record = OnceRecord.DATABASE)");
    }

    @Override
    public @Nullable Object run(
            String key, LockedCall call, @Nullable EvaluationContext context, OnceCalls.Method method)
            throws Throwable {
        if (OuterTransactions.includes(operation.method(), targetClass())) {
            throw inTransaction();
        }
        Attempt attempt = new Attempt(call, HeldLeases.current(call.client(), key), call.context());
        try {
            Optional<StoreOnce.Done> done = await(attempt.find());
            if (done.isPresent()) {
                return attempt.repeated(done.get());
            }
            Object result = method.proceed();
            await(attempt.keep(result));
            return result;
        } catch (Throwable e) {
            throw attempt.failed(e);
        } finally {
            attempt.close();
        }
    }

    private static <T> T await(CompletionStage<T> stage) throws Throwable {
        try {
            return StageWait.join(stage);
        } catch (CompletionException e) {
            throw requireNonNull(e.getCause());
        }
    }
}
