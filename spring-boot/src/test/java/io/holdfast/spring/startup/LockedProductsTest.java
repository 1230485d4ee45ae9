package io.holdfast.spring.startup;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.spring.Locked;
import io.holdfast.spring.boot.Contexts;
import io.holdfast.spring.declaration.LockedDefinitionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.api.Test;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.PriorityOrdered;

/** What a {@link FactoryBean} makes, as repositories, clients and mappers of libraries are. */
public class LockedProductsTest {

    interface Remote {
        @Locked("remote")
        String call();
    }

    public static class Factory implements FactoryBean<Remote> {

        final AtomicInteger made = new AtomicInteger();

        @Override
        public Remote getObject() {
            made.incrementAndGet();
            return ProxyFactory.getProxy(Remote.class, (MethodInterceptor) call -> "called");
        }

        @Override
        public Class<?> getObjectType() {
            return Remote.class;
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class TooEarly {

        @Bean
        static Factory remote() {
            return new Factory();
        }

        /** Made before ours, and what it depends on with it. */
        @Bean
        static EarlyProcessor early(Remote remote) {
            return new EarlyProcessor();
        }
    }

    static class EarlyProcessor implements BeanPostProcessor, PriorityOrdered {
        @Override
        public int getOrder() {
            return 0;
        }
    }

    record User(Remote remote) {}

    @Test
    void one_that_was_made_too_early_stops_the_start() {
        Contexts.memory("products")
                .withUserConfiguration(TooEarly.class)
                .run(context -> assertThat(context)
                        .getFailure()
                        .isInstanceOf(LockedDefinitionException.class)
                        .hasMessageContaining("too early")
                        .hasMessageContaining("\"remote\""));
    }

    @Test
    void one_without_a_client_stops_the_start() {
        Contexts.memory("products")
                .withPropertyValues("holdfast.enabled=false")
                .withBean("remote", Factory.class)
                .withBean(User.class)
                .run(context -> assertThat(context)
                        .getFailure()
                        .isInstanceOf(LockedDefinitionException.class)
                        .hasMessageContaining("there is no LockClient bean"));
    }

    @Test
    void one_that_nobody_has_asked_for_is_not_made() {
        Contexts.memory("products").withBean("remote", Factory.class).run(context -> {
            assertThat(context).hasNotFailed();
            Factory factory = context.getBean("&remote", Factory.class);
            assertThat(factory.made).hasValue(0);
            assertThat(context.getBean(Remote.class).call()).isEqualTo("called");
            assertThat(factory.made).hasValue(1);
        });
    }
}
