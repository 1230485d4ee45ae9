package io.holdfast.spring.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.get;

import io.holdfast.LockClient;
import io.holdfast.LockStoreException;
import io.holdfast.LockTimeoutException;
import io.holdfast.spring.Locked;
import java.time.Duration;
import java.util.List;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.test.web.reactive.server.WebTestClient;
import org.springframework.test.web.servlet.MockMvc;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** An application and what its slices show. The annotations of the slices have other packages in Boot 3 than in Boot 4. */
public final class SliceParts {

    private SliceParts() {}

    @RestController
    public static class Controller {

        @GetMapping("/busy")
        public String busy() {
            throw new LockTimeoutException("busy", List.of("order"), Duration.ZERO, null);
        }

        @GetMapping("/fault")
        public String fault() {
            throw new LockStoreException("no answer", "redis://10.0.0.7:6379", null);
        }

        @GetMapping("/locked")
        @Locked(name = "order", waitTime = "0")
        public String locked() {
            return "shipped";
        }
    }

    @SpringBootConfiguration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    public static class Application {

        @Bean
        Controller controller() {
            return new Controller();
        }
    }

    /** The advice answers, a locked method runs without its lock, and nothing has looked for a store. */
    public static void answersWithoutStore(ApplicationContext context) {
        assertThat(context.getBeansOfType(LockExceptionAdvice.class)).hasSize(1);
        assertThat(context.getBeansOfType(LockClient.class)).isEmpty();
    }

    /** Sends the requests of {@link Controller} through Spring MVC. */
    public static void answers(MockMvc mvc) throws Exception {
        assertThat(send(mvc, "/locked").getContentAsString()).isEqualTo("shipped");
        MockHttpServletResponse busy = send(mvc, "/busy");
        assertThat(busy.getStatus()).isEqualTo(409);
        assertThat(busy.getContentAsString()).contains("Another request is working");
        MockHttpServletResponse fault = send(mvc, "/fault");
        assertThat(fault.getStatus()).isEqualTo(503);
        assertThat(fault.getHeader("Retry-After")).isEqualTo("5");
    }

    private static MockHttpServletResponse send(MockMvc mvc, String path) throws Exception {
        return mvc.perform(get(path)).andReturn().getResponse();
    }

    /** Sends the requests of {@link Controller} through WebFlux. */
    public static void answers(WebTestClient web) {
        web.get().uri("/locked").exchange().expectBody(String.class).isEqualTo("shipped");
        web.get().uri("/busy").exchange().expectStatus().isEqualTo(409);
        web.get()
                .uri("/fault")
                .exchange()
                .expectStatus()
                .isEqualTo(503)
                .expectHeader()
                .valueEquals("Retry-After", "5");
    }
}
