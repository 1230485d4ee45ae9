package io.holdfast.spring.call;

import static java.util.Objects.requireNonNull;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import kotlin.Unit;
import kotlin.coroutines.AbstractCoroutineContextElement;
import kotlin.coroutines.Continuation;
import kotlin.coroutines.CoroutineContext;
import kotlinx.coroutines.Job;
import kotlinx.coroutines.ThreadContextElement;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/**
 * The leases under which a suspending function runs, in the context of its coroutine: on each thread while it runs the
 * coroutine, they are the leases of the thread. Loaded only where Kotlin's coroutines are present.
 */
final class HeldInCoroutine extends AbstractCoroutineContextElement
        implements ThreadContextElement<@Nullable List<HeldLeases.Entry>> {

    private static final class Key implements CoroutineContext.Key<HeldInCoroutine> {}

    private static final Key KEY = new Key();

    private final List<HeldLeases.Entry> entries;

    /** The coroutine of the function. Null until a thread has begun to run it. */
    private volatile @Nullable Job coroutine;

    /** The element of a call around this one, which this element replaces in the context. */
    private @Nullable HeldInCoroutine around;

    HeldInCoroutine(List<HeldLeases.Entry> entries) {
        super(KEY);
        this.entries = entries;
    }

    /** Puts this element into the context from which Spring makes the coroutine of the function. */
    @SuppressWarnings("unchecked")
    void addTo(MethodInvocation invocation) {
        @Nullable Object[] arguments = invocation.getArguments();
        int last = arguments.length - 1;
        Continuation<Object> caller = (Continuation<Object>) requireNonNull(arguments[last]);
        around = caller.getContext().get(KEY);
        CoroutineContext context = caller.getContext().plus(this);
        arguments[last] = new Continuation<Object>() {
            @Override
            public CoroutineContext getContext() {
                return context;
            }

            @Override
            public void resumeWith(Object result) {
                caller.resumeWith(result);
            }
        };
    }

    /**
     * Returns a stage that completes when the coroutine has ended. A cancelled coroutine still runs until it notices
     * that; one that no thread has begun to run never begins once it is cancelled.
     */
    CompletionStage<Void> end() {
        Job started = coroutine;
        CompletableFuture<Void> ended = new CompletableFuture<>();
        if (started == null) {
            ended.complete(null);
        } else {
            started.invokeOnCompletion(why -> {
                ended.complete(null);
                return Unit.INSTANCE;
            });
        }
        return ended;
    }

    @Override
    public @Nullable List<HeldLeases.Entry> updateThreadContext(CoroutineContext context) {
        begun(context.get(Job.Key));
        return HeldLeases.replace(entries);
    }

    private void begun(@Nullable Job started) {
        if (coroutine == null) {
            // The function's own comes first: it starts all others that have this element.
            coroutine = started;
            if (around != null) {
                // Has no effect unless that call is one of the same function.
                around.begun(started);
            }
        }
    }

    @Override
    public void restoreThreadContext(CoroutineContext context, @Nullable List<HeldLeases.Entry> before) {
        HeldLeases.restore(before);
    }
}
