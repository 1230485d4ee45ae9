package io.holdfast.samples.micronaut;

import io.micronaut.aop.Around;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Runs the method under a lock, whose name may have values of the call: {@code order.refund:#{orderId}}. */
@Around
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@interface Locked {
    String value();
}
