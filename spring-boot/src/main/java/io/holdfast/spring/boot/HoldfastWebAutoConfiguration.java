package io.holdfast.spring.boot;

import io.holdfast.spring.web.LockExceptionAdvice;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.web.ErrorResponse;

/**
 * Answers HTTP requests that fail for a lock, in Spring MVC and WebFlux.
 *
 * @see <a href="https://github.com/holdfast-lock/holdfast/blob/main/docs/spring.md#http">HTTP</a>
 */
@AutoConfiguration
@ConditionalOnWebApplication
@ConditionalOnClass(ErrorResponse.class)
@ConditionalOnProperty(prefix = "holdfast.web", name = "enabled", matchIfMissing = true)
@EnableConfigurationProperties(HoldfastWebProperties.class)
public final class HoldfastWebAutoConfiguration {

    @Bean
    IdempotentRequestAdvice holdfastIdempotentRequestAdvice(HoldfastWebProperties properties) {
        return new IdempotentRequestAdvice(properties.order());
    }

    @Bean
    @ConditionalOnMissingBean
    LockExceptionAdvice holdfastLockExceptionAdvice(HoldfastWebProperties properties) {
        try {
            return new LockExceptionAdvice(properties.busyStatus(), properties.retryAfter(), properties.order());
        } catch (IllegalArgumentException e) {
            throw new LockSettingsException(e);
        }
    }
}
