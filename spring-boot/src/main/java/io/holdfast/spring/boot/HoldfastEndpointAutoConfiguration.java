package io.holdfast.spring.boot;

import io.holdfast.LockClient;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/** The actuator endpoint {@code locks}. */
@AutoConfiguration(after = HoldfastAutoConfiguration.class)
@ConditionalOnClass(ConditionalOnAvailableEndpoint.class)
@ConditionalOnBean(LockClient.class)
@ConditionalOnAvailableEndpoint(endpoint = LocksEndpoint.class)
public final class HoldfastEndpointAutoConfiguration {

    /** For Spring. */
    public HoldfastEndpointAutoConfiguration() {}

    @Bean
    @ConditionalOnMissingBean
    LocksEndpoint locksEndpoint(ListableBeanFactory beans) {
        return new LocksEndpoint(BeanFactoryUtils.beansOfTypeIncludingAncestors(beans, LockClient.class));
    }
}
