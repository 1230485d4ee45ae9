package io.holdfast.spring;

import java.lang.reflect.Method;

/**
 * Reports that the lease of a {@link Locked} method with {@link OnLost#EVENT} was lost while the method ran. Published
 * on the client's callback executor, or by the method's thread if the loss is found at the release.
 *
 * <pre>{@code
 * @EventListener
 * void on(LeaseLostEvent event) {
 *     alerts.send(event.method().getName() + " ran without the lock " + event.name());
 * }
 * }</pre>
 *
 * @param name the lock name
 * @param fencingToken the token of the lease
 * @param method the method that ran, or still runs, without the lock
 */
public record LeaseLostEvent(String name, long fencingToken, Method method) {}
