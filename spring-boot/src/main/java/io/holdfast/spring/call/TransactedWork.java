package io.holdfast.spring.call;

import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.Exceptions;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Mono;
import reactor.util.context.Context;
import reactor.util.context.ContextView;

/**
 * The subscriber of a publisher whose effects belong to a transaction of the subscribing thread. The publisher must end
 * on that thread, before the subscription returns: what it leaves to another thread is not in the transaction.
 */
final class TransactedWork extends BaseSubscriber<Object> {

    private final Context context;
    private @Nullable Object value;
    private @Nullable Throwable failure;
    private volatile @Nullable Thread endedOn;

    private TransactedWork(ContextView context) {
        this.context = Context.of(context);
    }

    /**
     * Runs the work on the calling thread, and returns its value, or null if it has none.
     *
     * @throws IllegalStateException if the work goes on elsewhere; it is cancelled
     */
    @SuppressWarnings("ReferenceEquality") // this very thread
    static @Nullable Object result(Publisher<Object> publisher, ContextView context, String place) throws Throwable {
        TransactedWork work = new TransactedWork(context);
        Mono.from(publisher).subscribe(work);
        if (work.endedOn != Thread.currentThread()) {
            work.cancel();
            throw new IllegalStateException(place
                    + ": its work has left the thread of the transaction, so its effects would not be committed with the"
                    + " answer (expected: blocking work without subscribeOn, as in Mono.fromCallable(…); or record ="
                    + " OnceRecord.STORE_AT_LEAST_ONCE)");
        }
        if (work.failure != null) {
            throw Exceptions.unwrap(work.failure);
        }
        return work.value;
    }

    @Override
    public Context currentContext() {
        return context;
    }

    @Override
    protected void hookOnNext(Object next) {
        value = next;
    }

    @Override
    protected void hookOnError(Throwable why) {
        failure = why;
        endedOn = Thread.currentThread();
    }

    @Override
    protected void hookOnComplete() {
        endedOn = Thread.currentThread();
    }
}
