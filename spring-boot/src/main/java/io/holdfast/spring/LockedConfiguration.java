package io.holdfast.spring;

import io.holdfast.spring.call.CommitGuard;
import io.holdfast.spring.declaration.LockedNames;
import io.holdfast.spring.startup.LockedBeanPostProcessor;
import io.holdfast.spring.startup.MadeBeans;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;

/**
 * Makes {@link Locked} work; Spring Boot imports it by itself. Needs a {@link io.holdfast.LockClient} bean for methods that
 * use it.
 */
@Configuration(proxyBeanMethods = false)
@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
public final class LockedConfiguration {

    /** For Spring. */
    public LockedConfiguration() {}

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static LockedBeanPostProcessor holdfastLockedBeanPostProcessor(
            Environment environment, LockedNames names, MadeBeans made) {
        LockedBeanPostProcessor processor = new LockedBeanPostProcessor(names, made);
        processor.setProxyTargetClass(environment.getProperty("spring.aop.proxy-target-class", Boolean.class, true));
        return processor;
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static LockedNames holdfastLockedNames() {
        return new LockedNames();
    }

    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    static MadeBeans holdfastMadeBeans() {
        return new MadeBeans();
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(name = "org.springframework.transaction.ConfigurableTransactionManager")
    static class Transactions {

        @Bean
        @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
        static CommitGuard.Installer holdfastCommitGuard() {
            return new CommitGuard.Installer();
        }
    }
}
