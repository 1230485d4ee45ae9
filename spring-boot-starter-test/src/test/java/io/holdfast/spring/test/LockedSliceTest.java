package io.holdfast.spring.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.get;

import io.holdfast.Lease;
import io.holdfast.spring.Locked;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.webflux.test.autoconfigure.WebFluxTest;
import org.springframework.boot.webmvc.test.autoconfigure.WebMvcTest;
import org.springframework.context.annotation.Bean;
import org.springframework.test.context.ContextConfiguration;
import org.springframework.test.web.reactive.server.WebTestClient;
import org.springframework.test.web.servlet.MockMvc;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** With the test starter, the slices {@code @WebMvcTest} and {@code @WebFluxTest} have locks, in memory. */
class LockedSliceTest {

    @RestController
    static class Orders {

        @GetMapping("/ship")
        @Locked(name = "order.ship", waitTime = "0")
        public String ship() {
            return "shipped";
        }
    }

    @SpringBootConfiguration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {

        @Bean
        Orders orders() {
            return new Orders();
        }
    }

    @Nested
    @WebMvcTest
    @ContextConfiguration(classes = Application.class)
    class Mvc {

        @Test
        void a_locked_controller_waits_for_its_lock(@Autowired MockMvc mvc, @Autowired LockTester locks)
                throws Exception {
            try (Lease elsewhere = locks.holdElsewhere("order.ship")) {
                assertThat(mvc.perform(get("/ship")).andReturn().getResponse().getStatus())
                        .isEqualTo(409);
                assertThat(elsewhere.isValid()).isTrue();
            }
            assertThat(mvc.perform(get("/ship")).andReturn().getResponse().getContentAsString())
                    .isEqualTo("shipped");
        }
    }

    @Nested
    @WebFluxTest
    @ContextConfiguration(classes = Application.class)
    class Flux {

        @Test
        void a_locked_controller_waits_for_its_lock(@Autowired WebTestClient web, @Autowired LockTester locks) {
            try (Lease elsewhere = locks.holdElsewhere("order.ship")) {
                web.get().uri("/ship").exchange().expectStatus().isEqualTo(409);
                assertThat(elsewhere.isValid()).isTrue();
            }
            web.get().uri("/ship").exchange().expectBody(String.class).isEqualTo("shipped");
        }
    }
}
