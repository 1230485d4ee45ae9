/**
 * The lock on a method: {@link io.holdfast.spring.Locked}, its interceptor, and its checks at start-up. Works in any Spring
 * context that has a {@link io.holdfast.LockClient} bean and imports {@link io.holdfast.spring.LockedConfiguration}; with
 * Spring Boot both come by themselves.
 *
 * <p>The way of a call: {@code LockedInterceptor} finds the {@code LockedOperation} of the method (read once, by {@code
 * OperationReader}), which says the lock names for these arguments; then {@code BlockingCall}, {@code StageCall} or {@code
 * ReactiveCall}, by what the method returns, acquires, runs the method and releases.
 */
@NullMarked
package io.holdfast.spring;

import org.jspecify.annotations.NullMarked;
