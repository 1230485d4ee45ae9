package io.holdfast.spring.call;

import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.MultiLease;
import io.holdfast.spring.OnLost;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Decides the outcome of a call whose lease was lost, and publishes at most one event. */
final class Losses {

    private final MultiLease leases;
    private final OnLost onLost;
    private final Consumer<Lease> event;
    private final AtomicBoolean published = new AtomicBoolean();

    /** @param event publishes the loss of a lease */
    Losses(MultiLease leases, OnLost onLost, Consumer<Lease> event) {
        this.leases = leases;
        this.onLost = onLost;
        this.event = event;
        if (onLost == OnLost.EVENT) {
            leases.onLost(lease -> publish());
        }
    }

    private void publish() {
        if (published.compareAndSet(false, true)) {
            leases.leases().stream()
                    .filter(lease -> !lease.isValid())
                    .findFirst()
                    .ifPresent(event);
        }
    }

    /** Returns the exception for the caller: the method's own, the loss, or none. */
    @Nullable
    Throwable outcome(@Nullable Throwable failure, LeaseLostException lost) {
        if (onLost == OnLost.EVENT) {
            publish();
            return failure;
        }
        if (failure == null) {
            return lost;
        }
        // With INTERRUPT the failure is most likely a consequence of the loss.
        boolean consequence = onLost == OnLost.INTERRUPT;
        Throwable thrown = consequence ? lost : failure;
        thrown.addSuppressed(consequence ? failure : lost);
        return thrown;
    }
}
