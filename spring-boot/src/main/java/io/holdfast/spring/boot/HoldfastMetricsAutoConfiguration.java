package io.holdfast.spring.boot;

import io.holdfast.LockClient;
import io.holdfast.micrometer.HoldfastMetrics;
import io.holdfast.spring.call.OnceCalls;
import io.holdfast.spring.declaration.LockedNames;
import io.micrometer.core.instrument.MeterRegistry;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/**
 * Registers the meters, if there is a registry.
 *
 * @see <a href="https://github.com/holdfast-lock/holdfast/blob/main/docs/metrics.md#meters-micrometer">Meters</a>
 */
@AutoConfiguration(
        before = HoldfastAutoConfiguration.class,
        afterName = {
            // Boot 4, Boot 3
            "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration",
            "org.springframework.boot.micrometer.metrics.autoconfigure.export.simple.SimpleMetricsExportAutoConfiguration",
            "org.springframework.boot.actuate.autoconfigure.metrics.CompositeMeterRegistryAutoConfiguration",
            "org.springframework.boot.actuate.autoconfigure.metrics.export.simple.SimpleMetricsExportAutoConfiguration"
        })
@ConditionalOnClass({MeterRegistry.class, HoldfastMetrics.class})
@ConditionalOnBean(MeterRegistry.class)
public final class HoldfastMetricsAutoConfiguration {

    /** Bound here, so that the events of the start are counted; Boot binds it a second time, which changes nothing. */
    @Bean
    @ConditionalOnMissingBean
    HoldfastMetrics holdfastMetrics(MeterRegistry registry, HoldfastProperties properties, LockedNames names) {
        properties.metrics().names().forEach(names::add);
        HoldfastMetrics metrics = new HoldfastMetrics(names::tag);
        metrics.bindTo(registry);
        return metrics;
    }

    @Bean
    OnceCalls.Meter holdfastOnceMeter(HoldfastMetrics metrics) {
        return metrics::once;
    }

    /** The client needs its listener first, so the gauges get it when both are there. */
    @Bean
    SmartInitializingSingleton holdfastMetricsOfClient(HoldfastMetrics metrics, ObjectProvider<LockClient> client) {
        return () -> client.ifUnique(metrics::watch);
    }
}
