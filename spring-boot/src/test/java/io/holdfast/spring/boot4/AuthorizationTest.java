package io.holdfast.spring.boot4;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockTimeoutException;
import io.holdfast.spring.Locked;
import io.holdfast.spring.boot.Contexts;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.security.access.AccessDeniedException;
import org.springframework.security.access.prepost.PreAuthorize;
import org.springframework.security.authentication.TestingAuthenticationToken;
import org.springframework.security.config.annotation.method.configuration.EnableMethodSecurity;
import org.springframework.security.core.context.SecurityContextHolder;

/** Spring Security's {@code @PreAuthorize} on a locked method: inside the lock, or outside by {@code holdfast.order}. */
class AuthorizationTest {

    static class Orders {

        @PreAuthorize("hasRole('CLERK')")
        @Locked(name = "order")
        public boolean ship(@Nullable Lease lease) {
            return lease != null && lease.isValid();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableMethodSecurity
    static class Application {

        @Bean
        Orders orders() {
            return new Orders();
        }
    }

    private final ApplicationContextRunner application = Contexts.memory("authorization")
            .withUserConfiguration(Application.class)
            .withPropertyValues("holdfast.wait-time=1ms");

    private static void callAs(String role) {
        SecurityContextHolder.getContext().setAuthentication(new TestingAuthenticationToken("ann", "secret", role));
    }

    @AfterEach
    void callAsNobody() {
        SecurityContextHolder.clearContext();
    }

    @Test
    void the_order_puts_it_outside_so_a_call_that_is_denied_asks_for_no_lock() throws InterruptedException {
        try (LockClient other = LockClient.connect("memory:authorization");
                Lease held = other.acquire("order")) {
            callAs("ROLE_GUEST");
            application.run(context -> assertThatThrownBy(
                            () -> context.getBean(Orders.class).ship(null))
                    .as("by default the lock is outside")
                    .isInstanceOf(LockTimeoutException.class));
            application.withPropertyValues("holdfast.order=1000").run(context -> {
                Orders orders = context.getBean(Orders.class);
                assertThatThrownBy(() -> orders.ship(null)).isInstanceOf(AccessDeniedException.class);
                callAs("ROLE_CLERK");
                assertThatThrownBy(() -> orders.ship(null)).isInstanceOf(LockTimeoutException.class);
                assertThat(held.isValid()).isTrue();
                held.release();
                assertThat(orders.ship(null)).isTrue();
            });
        }
    }

    @Test
    void inside_it_refuses_a_call_that_has_the_lock() {
        callAs("ROLE_GUEST");
        application.run(context -> {
            assertThatThrownBy(() -> context.getBean(Orders.class).ship(null))
                    .isInstanceOf(AccessDeniedException.class);
            LockClient client = context.getBean(LockClient.class);
            assertThat(client.inspect("order").isLocked()).isFalse();
        });
    }
}
