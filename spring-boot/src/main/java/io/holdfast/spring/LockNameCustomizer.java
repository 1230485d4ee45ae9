package io.holdfast.spring;

/**
 * Changes the names of {@link Locked} and {@link Limited} methods and of {@link LockTemplate}, at each call, as a bean;
 * for example, puts the tenant of the call before them. Several customizers apply in their order. Must be thread-safe.
 *
 * <pre>{@code
 * @Bean
 * LockNameCustomizer tenantNames(Tenants tenants) {
 *     return name -> tenants.current() + ":" + name;
 * }
 * }</pre>
 *
 * <p>Two calls that must exclude each other must get the same name in every process. The metric tag is still the
 * constant part of {@link Locked#name} if the customizer puts only a prefix with a colon before the name.
 */
@FunctionalInterface
public interface LockNameCustomizer {

    /**
     * Returns the name to lock.
     *
     * @param name {@code name} or {@code name:key}
     */
    String customize(String name);
}
