package io.holdfast.spring;

import io.holdfast.spring.call.CallWatch;
import io.holdfast.spring.call.ObservedCalls;
import io.micrometer.observation.ObservationRegistry;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;

/** Makes each call of a locked method an observation; Spring Boot imports it where there is an {@link ObservationRegistry}. */
@Configuration(proxyBeanMethods = false)
public final class LockedObservations {

    /** For Spring. */
    public LockedObservations() {}

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static CallWatch.Source holdfastObservedCalls(ObservationRegistry registry) {
        return new ObservedCalls(registry);
    }
}
