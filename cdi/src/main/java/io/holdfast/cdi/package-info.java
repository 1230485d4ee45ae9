/**
 * Annotations for methods of Jakarta CDI beans: {@link io.holdfast.cdi.Locked}, {@link io.holdfast.cdi.ScheduledLock},
 * {@link io.holdfast.cdi.Limited}, {@link io.holdfast.cdi.Leader} and {@link io.holdfast.cdi.Idempotent}. For containers
 * of CDI 4.
 *
 * <p>The path of a call: {@code LockedInterceptor} → {@code LockedMethods} → {@code BlockingCall} or {@code StageCall}
 * → {@link io.holdfast.LockClient}; inside of the transaction {@code TransactionInterceptor} → {@code LockedMethods} →
 * {@code OnceCalls}. {@code HoldfastExtension} lets {@code MethodReader} check all beans: at the start, or at the build
 * of Quarkus.
 */
@NullMarked
package io.holdfast.cdi;

import org.jspecify.annotations.NullMarked;
