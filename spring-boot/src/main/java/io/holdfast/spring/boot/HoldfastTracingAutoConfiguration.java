package io.holdfast.spring.boot;

import io.holdfast.opentelemetry.HoldfastTracing;
import io.opentelemetry.api.OpenTelemetry;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/**
 * Lets the client make spans of waits, if there is one bean of OpenTelemetry.
 *
 * @see <a href="https://github.com/holdfast-lock/holdfast/blob/main/docs/metrics.md#traces-opentelemetry">Traces</a>
 */
@AutoConfiguration(before = HoldfastAutoConfiguration.class)
@ConditionalOnClass({OpenTelemetry.class, HoldfastTracing.class})
public final class HoldfastTracingAutoConfiguration {

    /** The first of all, so that the application's own customizer may set another tracer. */
    @Bean
    @Order(Ordered.HIGHEST_PRECEDENCE)
    LockClientCustomizer holdfastTracing(ObjectProvider<OpenTelemetry> openTelemetry) {
        return builder -> openTelemetry.ifUnique(found -> builder.tracer(new HoldfastTracing(found)));
    }
}
