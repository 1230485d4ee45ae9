package io.holdfast.samples.micronaut;

/** The orders of the shop. */
interface Orders {

    void refund(long orderId);

    void cleanUp();
}
