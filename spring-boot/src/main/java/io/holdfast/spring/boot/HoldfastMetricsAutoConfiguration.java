package io.holdfast.spring.boot;

import io.holdfast.LockClient;
import io.holdfast.spring.declaration.LockedNames;
import io.micrometer.core.instrument.MeterRegistry;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/** Registers the meters, if there is a registry. */
@AutoConfiguration(
        before = HoldfastAutoConfiguration.class,
        afterName = {
            // Boot 4, Boot 3
            "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration",
            "org.springframework.boot.micrometer.metrics.autoconfigure.export.simple.SimpleMetricsExportAutoConfiguration",
            "org.springframework.boot.actuate.autoconfigure.metrics.CompositeMeterRegistryAutoConfiguration",
            "org.springframework.boot.actuate.autoconfigure.metrics.export.simple.SimpleMetricsExportAutoConfiguration"
        })
@ConditionalOnClass(MeterRegistry.class)
@ConditionalOnBean(MeterRegistry.class)
public final class HoldfastMetricsAutoConfiguration {

    /** For Spring. */
    public HoldfastMetricsAutoConfiguration() {}

    @Bean
    @ConditionalOnMissingBean
    LockMetrics holdfastLockMetrics(
            MeterRegistry registry,
            HoldfastProperties properties,
            LockedNames names,
            ObjectProvider<LockClient> client) {
        properties.metrics().names().forEach(names::add);
        return new LockMetrics(registry, names, client::getObject);
    }
}
