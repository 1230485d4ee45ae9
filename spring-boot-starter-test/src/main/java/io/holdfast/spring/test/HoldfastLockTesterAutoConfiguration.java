package io.holdfast.spring.test;

import io.holdfast.LockClient;
import io.holdfast.spring.Leaderships;
import io.holdfast.spring.boot.HoldfastAutoConfiguration;
import io.holdfast.spring.startup.LeaderLifecycle;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;

/**
 * Makes the {@link LockTester}, if there is a client. It is ordered after the client, unlike {@link
 * HoldfastTestAutoConfiguration}.
 *
 * @see <a href="https://github.com/holdfast-lock/holdfast/blob/main/docs/spring.md#tests">Tests</a>
 */
@AutoConfiguration(after = HoldfastAutoConfiguration.class)
@ConditionalOnSingleCandidate(LockClient.class)
@ConditionalOnProperty(prefix = "holdfast.test", name = "enabled", matchIfMissing = true)
public final class HoldfastLockTesterAutoConfiguration {

    /** Creates it, for Spring. */
    public HoldfastLockTesterAutoConfiguration() {}

    @Bean
    @ConditionalOnMissingBean
    LockTester holdfastLockTester(LockClient client, Leaderships leaderships) {
        return new LockTester(
                client,
                LockClient.builder()
                        .store(HoldfastTestAutoConfiguration.SERVER::connect)
                        .build(),
                leaderships);
    }

    @Bean
    LeadAtOnce holdfastLeadAtOnce(LockTester tester, LeaderLifecycle before) {
        return new LeadAtOnce(tester);
    }
}
