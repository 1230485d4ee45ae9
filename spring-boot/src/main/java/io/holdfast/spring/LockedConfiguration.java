package io.holdfast.spring;

import io.holdfast.LeadershipOptions;
import io.holdfast.LockClient;
import io.holdfast.spring.call.BlockingLockTemplate;
import io.holdfast.spring.call.Clients;
import io.holdfast.spring.call.CommitGuard;
import io.holdfast.spring.call.ContextLeaderships;
import io.holdfast.spring.call.CustomNames;
import io.holdfast.spring.call.ExchangeFilter;
import io.holdfast.spring.call.OnceCalls;
import io.holdfast.spring.declaration.LazyBean;
import io.holdfast.spring.declaration.LockedMethods;
import io.holdfast.spring.declaration.LockedNames;
import io.holdfast.spring.startup.LateClose;
import io.holdfast.spring.startup.LeaderLifecycle;
import io.holdfast.spring.startup.LockedBeanPostProcessor;
import io.holdfast.spring.startup.UncheckedBeans;
import io.micrometer.observation.ObservationRegistry;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;
import org.springframework.core.Ordered;
import org.springframework.core.env.Environment;

/**
 * Makes {@link Locked}, {@link Limited}, {@link Idempotent} and {@link Leader} work; Spring Boot imports it
 * automatically. Their methods need a {@link io.holdfast.LockClient} bean. The only class of this package that knows
 * the other rooms.
 *
 * @see <a href="https://github.com/holdfast-lock/holdfast/blob/main/docs/spring.md#attributes-of-locked">
 *     Attributes of @Locked</a>
 */
@Configuration(proxyBeanMethods = false)
@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
public final class LockedConfiguration {

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static LockedBeanPostProcessor holdfastLockedBeanPostProcessor(
            ConfigurableListableBeanFactory beans,
            ApplicationEventPublisher events,
            Environment environment,
            LockedNames names,
            LockedMethods methods,
            UncheckedBeans unchecked,
            Clients clients,
            ContextLeaderships leaderships,
            OnceCalls once) {
        boolean targetClasses = environment.getProperty("spring.aop.proxy-target-class", Boolean.class, true);
        int order = environment.getProperty("holdfast.order", Integer.class, Ordered.HIGHEST_PRECEDENCE);
        return new LockedBeanPostProcessor(
                beans, events, targetClasses, order, names, methods, unchecked, clients, leaderships, once);
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static OnceCalls holdfastOnceCalls(ConfigurableListableBeanFactory beans) {
        return new OnceCalls(beans);
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static LateClose holdfastLateClose() {
        return new LateClose();
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static LockedNames holdfastLockedNames() {
        return new LockedNames();
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static LockedMethods holdfastLockedMethods() {
        return new LockedMethods();
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static UncheckedBeans holdfastUncheckedBeans() {
        return new UncheckedBeans();
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static Clients holdfastClients(ConfigurableListableBeanFactory beans) {
        return new Clients(beans);
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static ContextLeaderships holdfastLeaderships(Clients clients, ObjectProvider<LeadershipOptions> options) {
        return new ContextLeaderships(
                clients, new LazyBean<>(() -> options.getIfAvailable(LeadershipOptions::defaults)));
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static LeaderLifecycle holdfastLeaderLifecycle(
            ConfigurableApplicationContext context, ContextLeaderships leaderships) {
        return new LeaderLifecycle(context, leaderships);
    }

    @Bean
    @ConditionalOnMissingBean
    static LockTemplate holdfastLockTemplate(
            ObjectProvider<LockClient> clients,
            ObjectProvider<LockedDefaults> defaults,
            ObjectProvider<ObservationRegistry> observations,
            LockedNames names,
            BeanFactory beans) {
        return new BlockingLockTemplate(
                new LazyBean<>(() -> primary(clients)),
                new LazyBean<>(() -> defaults.getIfAvailable(LockedDefaults::standard)),
                new LazyBean<>(() -> observations.getIfUnique(() -> ObservationRegistry.NOOP)),
                names,
                new CustomNames(beans));
    }

    private static LockClient primary(ObjectProvider<LockClient> clients) {
        try {
            return clients.getObject();
        } catch (NoSuchBeanDefinitionException e) {
            throw new IllegalStateException(
                    "LockTemplate: there is no LockClient bean, or there are several and none is primary"
                            + " (expected: one of them, or LockTemplate.withClient)",
                    e);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.REACTIVE)
    static class Requests {

        @Bean
        static ExchangeFilter holdfastExchangeFilter() {
            return new ExchangeFilter();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(name = "org.springframework.transaction.ConfigurableTransactionManager")
    static class Transactions {

        @Bean
        @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
        static CommitGuard holdfastCommitGuard() {
            return new CommitGuard();
        }
    }
}
