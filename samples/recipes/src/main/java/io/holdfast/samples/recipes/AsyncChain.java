package io.holdfast.samples.recipes;

import io.holdfast.LockClient;
import java.util.concurrent.CompletionStage;

/** Keeps a lock from the first to the last stage of an asynchronous chain. */
final class AsyncChain {

    /** The remote services that the chain calls. */
    interface Billing {
        CompletionStage<Integer> lastNumber(String customer);

        CompletionStage<Integer> send(String customer, int number, long fencingToken);
    }

    private final LockClient locks;
    private final Billing billing;

    AsyncChain(LockClient locks, Billing billing) {
        this.locks = locks;
        this.billing = billing;
    }

    /** Sends the next invoice of a customer, and completes with its number. */
    CompletionStage<Integer> sendInvoice(String customer) {
        return locks.callAsync(
                "invoice:" + customer,
                lease -> billing.lastNumber(customer)
                        .thenCompose(last -> billing.send(customer, last + 1, lease.fencingToken())));
    }
}
