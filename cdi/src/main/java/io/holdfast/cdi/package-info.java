/**
 * Locks on methods of Jakarta CDI beans: {@link io.holdfast.cdi.Locked} and {@link io.holdfast.cdi.ScheduledLock}. For
 * containers of CDI 4.
 *
 * <p>The path of a call: {@code LockedInterceptor} → {@code LockedMethods} → {@code BlockingCall} or {@code StageCall}
 * → {@link io.holdfast.LockClient}. {@code MethodReader} reads and checks an annotation once.
 */
@NullMarked
package io.holdfast.cdi;

import org.jspecify.annotations.NullMarked;
