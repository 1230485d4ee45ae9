package io.holdfast.cdi;

import jakarta.interceptor.InterceptorBinding;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * The interceptor binding that the annotations of this package have in common. Not for methods: use {@link Locked},
 * {@link ScheduledLock} or {@link Limited}, each of which has it.
 *
 * @see <a href="https://github.com/holdfast-lock/holdfast/blob/main/docs/cdi.md">Jakarta CDI</a>
 */
@InterceptorBinding
@Target({ElementType.METHOD, ElementType.TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Inherited
public @interface HoldfastBinding {}
