package io.holdfast.samples.recipes;

import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import jakarta.persistence.EntityManager;

/** Changes an entity under a lease. */
final class FencedJpa {

    private FencedJpa() {}

    /**
     * Returns an order for changes in this transaction.
     *
     * @throws LeaseLostException if a later lease has changed the order, or there is no such order
     */
    static FencedOrder claim(EntityManager entities, Lease lease, long orderId) {
        int claimed = entities.createQuery(
                        "UPDATE FencedOrder o SET o.fence = :fence WHERE o.id = :id AND o.fence <= :fence")
                .setParameter("fence", lease.fencingToken())
                .setParameter("id", orderId)
                .executeUpdate();
        if (claimed == 0) {
            throw new LeaseLostException("Order " + orderId + " refused " + lease);
        }
        return entities.find(FencedOrder.class, orderId);
    }
}
