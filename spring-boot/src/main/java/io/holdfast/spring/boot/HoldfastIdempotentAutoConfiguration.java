package io.holdfast.spring.boot;

import io.holdfast.LockClient;
import io.holdfast.jdbc.JdbcOnce;
import io.holdfast.spring.call.OnceCalls;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;

/**
 * Deletes the keys of methods with {@code @Idempotent} that were kept for long enough.
 *
 * @see <a href="https://github.com/holdfast-lock/holdfast/blob/main/docs/idempotent.md#what-it-needs">What it needs</a>
 */
@AutoConfiguration(after = HoldfastAutoConfiguration.class)
@ConditionalOnClass(JdbcOnce.class)
@EnableConfigurationProperties(HoldfastIdempotentProperties.class)
public final class HoldfastIdempotentAutoConfiguration {

    @Bean
    OncePurgeLifecycle holdfastOncePurge(
            OnceCalls calls, ObjectProvider<LockClient> client, HoldfastIdempotentProperties properties) {
        return new OncePurgeLifecycle(calls, client, properties.purgeEvery());
    }
}
