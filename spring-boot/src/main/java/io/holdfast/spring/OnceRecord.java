package io.holdfast.spring;

/**
 * The place where {@link Idempotent} and {@link IdempotentRequest} keep the key and the result of a call, which decides
 * what is promised.
 *
 * <pre>{@code
 * @Idempotent(name = "payment.callback", key = "#callback.paymentId", record = OnceRecord.STORE_AT_LEAST_ONCE)
 * public Mono<Receipt> settle(Callback callback) { … }
 * }</pre>
 */
public enum OnceRecord {

    /**
     * In the database, in the transaction of the method: key, result and effects are committed together, or none of
     * them is. For methods that return their result, since a transaction belongs to one thread; for requests of WebFlux,
     * see {@link IdempotentRequest}.
     */
    DATABASE,

    /**
     * In the store of the locks, for applications without a database: <b>after a crash, at least once</b>. A process
     * that dies between the work and the record leaves no record, and the next call does the work again; so does a
     * store that loses the record. Also for methods that return a {@code Mono}, and for suspending functions. Needs
     * Redis in mode {@code lua}, or memory; see {@link io.holdfast.StoreOnce}.
     */
    STORE_AT_LEAST_ONCE
}
