package io.holdfast.engine;

import io.holdfast.spi.AcquireReply;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.RenewReply;
import io.holdfast.spi.RenewRequest;
import java.util.concurrent.CompletionStage;

/** Promises no more than some time at once, whatever it is asked for, as ZooKeeper promises two thirds of a session. */
public class PartlyPromisingStore extends ForwardingStore {

    private final long mostMillis;

    public PartlyPromisingStore(LockStore store, long mostMillis) {
        super(store);
        this.mostMillis = mostMillis;
    }

    @Override
    public CompletionStage<AcquireReply> acquire(AcquireRequest request) {
        return super.acquire(request)
                .thenApply(reply -> reply instanceof AcquireReply.Granted granted
                        ? new AcquireReply.Granted(granted.base(), granted.waiting(), mostMillis)
                        : reply);
    }

    @Override
    public CompletionStage<RenewReply> renew(RenewRequest request) {
        return super.renew(request)
                .thenApply(reply -> reply instanceof RenewReply.Renewed renewed
                        ? new RenewReply.Renewed(renewed.waiting(), mostMillis)
                        : reply);
    }
}
