/**
 * Locks on methods: {@link io.holdfast.spring.Locked}; limits on methods: {@link io.holdfast.spring.Limited}; methods
 * of a leader: {@link io.holdfast.spring.Leader}. Works in
 * any Spring context that has a {@link io.holdfast.LockClient} bean and imports {@link
 * io.holdfast.spring.LockedConfiguration}; Spring Boot adds both.
 *
 * <p>This package is the API. The internal rooms know only those below:
 *
 * <pre>
 * startup      intercepts the beans with marked methods and refuses what could run past it; begins and ends leaderships
 *    ↓         LockedBeanPostProcessor, LeaderLifecycle
 * call         runs one call: acquires, calls the method, releases
 *    ↓         LockedInterceptor → LockedCall → BlockingCall | StageCall | ReactiveCall → Wanted → LockClient
 *    ↓         LockedInterceptor → ContextLeaderships → io.holdfast.leader | ReactiveLeaderCall
 * declaration  reads and checks the annotations of a method, once; says what a call wants
 *    ↓         OperationReader → Declared → LockedOperation → Wanted
 * API
 * </pre>
 */
@NullMarked
package io.holdfast.spring;

import org.jspecify.annotations.NullMarked;
