package io.holdfast.spring.boot3;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.spring.boot.Contexts;
import org.junit.jupiter.api.Test;
import org.springframework.boot.actuate.health.HealthEndpoint;
import org.springframework.boot.actuate.health.HealthEndpointGroups;
import org.springframework.boot.actuate.health.HealthIndicator;
import org.springframework.boot.actuate.health.Status;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** The health contributor on Boot 3: what it shows, and that it has no part in liveness. */
class HealthTest {

    private static final ApplicationContextRunner APPLICATION = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(Contexts.configurations(
                    "org.springframework.boot.autoconfigure.availability.ApplicationAvailabilityAutoConfiguration",
                    "org.springframework.boot.actuate.autoconfigure.health.HealthContributorAutoConfiguration",
                    "org.springframework.boot.actuate.autoconfigure.health.HealthEndpointAutoConfiguration",
                    "org.springframework.boot.actuate.autoconfigure.availability.AvailabilityProbesAutoConfiguration",
                    "org.springframework.boot.actuate.autoconfigure.availability.AvailabilityHealthContributorAutoConfiguration",
                    "io.holdfast.spring.boot.HoldfastAutoConfiguration",
                    "io.holdfast.spring.boot.HoldfastActuatorAutoConfiguration")))
            .withPropertyValues(
                    "management.endpoint.health.probes.enabled=true",
                    "management.endpoint.health.show-details=always",
                    "management.endpoints.web.exposure.include=health");

    @Test
    void shows_the_store_and_what_is_held_and_how_late_renewals_are() {
        APPLICATION.withPropertyValues("holdfast.store=memory:health").run(context -> {
            HealthIndicator health = context.getBean("locksHealthIndicator", HealthIndicator.class);
            try (Lease lease = context.getBean(LockClient.class).acquire("a")) {
                assertThat(health.health().getStatus()).isEqualTo(Status.UP);
                assertThat(health.health().getDetails())
                        .containsEntry("store", "memory")
                        .containsEntry("held", 1)
                        .containsEntry("renewalLag", "0 ms")
                        .containsKey("leastRemaining");
                assertThat(lease.isValid()).isTrue();
            }
        });
    }

    @Test
    void is_down_when_the_store_is_gone() {
        APPLICATION.withPropertyValues("holdfast.store=memory:closed").run(context -> {
            context.getBean(LockClient.class).close();
            var health = context.getBean("locksHealthIndicator", HealthIndicator.class)
                    .health();
            assertThat(health.getStatus()).isEqualTo(Status.DOWN);
            assertThat(health.getDetails().get("error")).asString().contains("closed");
        });
    }

    @Test
    void is_a_part_of_the_whole_and_not_of_liveness_or_readiness() {
        APPLICATION.withPropertyValues("holdfast.store=memory:groups").run(context -> {
            HealthEndpoint endpoint = context.getBean(HealthEndpoint.class);
            assertThat(endpoint.healthForPath("locks").getStatus()).isEqualTo(Status.UP);
            HealthEndpointGroups groups = context.getBean(HealthEndpointGroups.class);
            assertThat(groups.getNames()).contains("liveness", "readiness");
            for (String group : groups.getNames()) {
                assertThat(groups.get(group).isMember("locks")).as(group).isFalse();
            }
            assertThat(groups.getPrimary().isMember("locks")).isTrue();
        });
    }

    @Test
    void is_switched_off_as_other_contributors_are() {
        APPLICATION
                .withPropertyValues("holdfast.store=memory:off", "management.health.locks.enabled=false")
                .run(context -> assertThat(context).doesNotHaveBean("locksHealthIndicator"));
        APPLICATION
                .withPropertyValues("holdfast.store=memory:off", "management.health.defaults.enabled=false")
                .run(context -> assertThat(context).doesNotHaveBean("locksHealthIndicator"));
    }
}
