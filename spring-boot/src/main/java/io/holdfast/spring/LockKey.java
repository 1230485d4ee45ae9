package io.holdfast.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Marks a parameter whose value is the key of a {@link Locked} or {@link Limited} method. Unlike an expression, it
 * needs no parameter names and no reflection hints. Several marked parameters make one key together, in their order,
 * joined by colons. None may be null or empty.
 *
 * <pre>{@code
 * @Locked(name = "order.refund", waitTime = "10s")
 * public void refund(@LockKey long orderId) { … }
 * }</pre>
 */
@Target(ElementType.PARAMETER)
@Retention(RetentionPolicy.RUNTIME)
@Documented
public @interface LockKey {}
