package io.holdfast.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * A parameter whose value is the key of a {@link Locked} method: the way without expressions. Needs no parameter names and
 * no reflection hints. The parameters of a method that are so marked make one key together, in their order, with a colon
 * between; none may be null or empty.
 */
@Target(ElementType.PARAMETER)
@Retention(RetentionPolicy.RUNTIME)
@Documented
public @interface LockKey {}
