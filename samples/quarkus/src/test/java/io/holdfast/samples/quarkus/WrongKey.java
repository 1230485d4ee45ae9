package io.holdfast.samples.quarkus;

import io.holdfast.cdi.Locked;
import jakarta.enterprise.context.ApplicationScoped;

/** Has a key that does not fit to its parameters. */
@ApplicationScoped
public class WrongKey {

    @Locked(name = "refund", key = "{order}")
    public void refund(long orderId) {}
}
