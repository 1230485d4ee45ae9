package io.holdfast.spring.boot;

import io.holdfast.spring.LockedObservations;
import io.micrometer.observation.ObservationRegistry;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Import;

/** The observation {@code holdfast.locked} around each call of a locked method, where there is a registry. */
@AutoConfiguration(
        afterName = {
            // Boot 4, Boot 3
            "org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration",
            "org.springframework.boot.actuate.autoconfigure.observation.ObservationAutoConfiguration"
        })
@ConditionalOnClass(ObservationRegistry.class)
@ConditionalOnBean(ObservationRegistry.class)
@Import(LockedObservations.class)
public final class HoldfastObservationAutoConfiguration {

    /** For Spring. */
    public HoldfastObservationAutoConfiguration() {}
}
