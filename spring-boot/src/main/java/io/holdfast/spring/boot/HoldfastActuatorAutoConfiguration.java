package io.holdfast.spring.boot;

import io.holdfast.LockClient;
import io.holdfast.console.web.ConsoleHandler;
import io.holdfast.spring.declaration.LockedMethods;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.EndpointAccessResolver;
import org.springframework.boot.actuate.endpoint.EndpointId;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.ImportRuntimeHints;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.web.servlet.mvc.method.annotation.ResponseBodyEmitter;

/**
 * The actuator endpoints and the health contributor {@code locks}; {@code management.health.locks.enabled=false}
 * switches the latter off.
 *
 * @see <a href="https://github.com/holdfast-lock/holdfast/blob/main/docs/spring.md#observability">Observability</a>
 */
@AutoConfiguration(after = HoldfastAutoConfiguration.class)
@ConditionalOnBean(LockClient.class)
public final class HoldfastActuatorAutoConfiguration {

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(ConditionalOnAvailableEndpoint.class)
    @ConditionalOnAvailableEndpoint(endpoint = LocksEndpoint.class)
    static class Endpoint {

        @Bean
        @ConditionalOnMissingBean
        LocksEndpoint locksEndpoint(ListableBeanFactory beans, LockedMethods methods) {
            return new LocksEndpoint(BeanFactoryUtils.beansOfTypeIncludingAncestors(beans, LockClient.class), methods);
        }
    }

    /** The page needs the classes of Spring MVC, and one client. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass({ConditionalOnAvailableEndpoint.class, ResponseBodyEmitter.class})
    @ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
    @ConditionalOnAvailableEndpoint(endpoint = ConsoleEndpoint.class)
    @ConditionalOnSingleCandidate(LockClient.class)
    @ImportRuntimeHints(PageHints.class)
    static class Console {

        @Bean
        @ConditionalOnMissingBean
        ConsoleEndpoint holdfastConsoleEndpoint(
                LockClient client, EndpointAccessResolver access, ApplicationContext context) {
            boolean isReleaseAllowed =
                    access.accessFor(EndpointId.of(ConsoleEndpoint.ID), Access.READ_ONLY) == Access.UNRESTRICTED;
            return new ConsoleEndpoint(new ConsoleHandler(client, isReleaseAllowed), context);
        }
    }

    /** Registers the file for native images. */
    static final class PageHints implements RuntimeHintsRegistrar {

        @Override
        public void registerHints(RuntimeHints hints, @Nullable ClassLoader loader) {
            hints.resources().registerPattern("io/holdfast/console/web/page.html");
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass({HealthIndicator.class, ConditionalOnEnabledHealthIndicator.class})
    @ConditionalOnEnabledHealthIndicator("locks")
    static class HealthOnBoot4 {

        @Bean
        @ConditionalOnMissingBean(name = "locksHealthIndicator")
        HealthIndicator locksHealthIndicator(ListableBeanFactory beans) {
            return () -> {
                LockHealth health = LockHealth.of(beans);
                return (health.up() ? Health.up() : Health.down())
                        .withDetails(health.details())
                        .build();
            };
        }
    }

    /** The classes of Boot 3 have other names. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(name = Boot3HealthIndicator.INDICATOR)
    @Conditional(EnabledOnBoot3.class)
    @ImportRuntimeHints(Boot3HealthIndicator.Hints.class)
    static class HealthOnBoot3 {

        @Bean
        @ConditionalOnMissingBean(name = "locksHealthIndicator")
        Boot3HealthIndicator locksHealthIndicator(ListableBeanFactory beans) {
            return new Boot3HealthIndicator(() -> LockHealth.of(beans));
        }
    }

    /** Boot's own condition, whose class has moved. */
    static final class EnabledOnBoot3 implements Condition {

        @Override
        public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
            Environment settings = context.getEnvironment();
            boolean byDefault = settings.getProperty("management.health.defaults.enabled", Boolean.class, true);
            return settings.getProperty("management.health.locks.enabled", Boolean.class, byDefault);
        }
    }
}
