package io.holdfast.spring.once;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.spring.IdempotentRequest;
import io.holdfast.spring.boot.HoldfastAutoConfiguration;
import io.holdfast.spring.declaration.LockedDefinitionException;
import jakarta.servlet.http.HttpServletResponse;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.AbstractApplicationContextRunner;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.http.HttpEntity;
import org.springframework.http.ResponseEntity;
import org.springframework.http.codec.multipart.FilePart;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.ResponseBody;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Controllers whose requests cannot be compared, or whose answers cannot be stored, do not start. */
class IdempotentRequestAtStartTest {

    @ResponseBody
    static class Value {
        @IdempotentRequest
        public String method() {
            return "";
        }
    }

    @ResponseBody
    static class OfMono {
        @IdempotentRequest
        public Mono<String> method() {
            return Mono.empty();
        }
    }

    @ResponseBody
    static class OfFlux {
        @IdempotentRequest
        public Flux<String> method() {
            return Flux.empty();
        }
    }

    static class View {
        @IdempotentRequest
        public Mono<String> method() {
            return Mono.empty();
        }
    }

    static class LateBody {
        @IdempotentRequest
        public Mono<ResponseEntity<Flux<String>>> method() {
            return Mono.empty();
        }
    }

    @ResponseBody
    static class LateRequest {
        @IdempotentRequest
        public Mono<String> method(@RequestBody Mono<String> body) {
            return body;
        }
    }

    @ResponseBody
    static class LateEntity {
        @IdempotentRequest
        public Mono<String> method(HttpEntity<Flux<String>> body) {
            return Mono.empty();
        }
    }

    @ResponseBody
    static class Exchange {
        @IdempotentRequest
        public Mono<String> method(ServerWebExchange exchange) {
            return Mono.empty();
        }
    }

    @ResponseBody
    static class File {
        @IdempotentRequest
        public Mono<String> method(FilePart file) {
            return Mono.empty();
        }
    }

    @ResponseBody
    static class Response {
        @IdempotentRequest
        public List<String> method(HttpServletResponse response) {
            return List.of();
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            none     | Value       | the application is no web application
            reactive | Value       | WebFlux calls it on an event loop
            reactive | OfFlux      | the result of a Flux is not stored
            reactive | View        | its result is not the body of the answer
            reactive | LateBody    | the body of its answer comes later
            reactive | LateRequest | a parameter of type Mono, whose content cannot be compared
            reactive | LateEntity  | a parameter of type HttpEntity, whose content cannot be compared
            reactive | Exchange    | a parameter of type ServerWebExchange, and what is written to that cannot be stored
            reactive | File        | a parameter of type FilePart
            reactive | OfMono      | there is no transaction manager bean
            servlet  | OfMono      | a request of Spring MVC belongs to one thread
            servlet  | Response    | a parameter of type HttpServletResponse
            """)
    void a_controller_that_cannot_work(String web, String bean, String part) throws ClassNotFoundException {
        Class<?> type = Class.forName(IdempotentRequestAtStartTest.class.getName() + "$" + bean);
        switch (web) {
            case "none" -> refused(new ApplicationContextRunner(), type, part);
            case "reactive" -> refused(new ReactiveWebApplicationContextRunner(), type, part);
            default -> refused(new WebApplicationContextRunner(), type, part);
        }
    }

    private static void refused(AbstractApplicationContextRunner<?, ?, ?> context, Class<?> bean, String part) {
        context.withConfiguration(AutoConfigurations.of(HoldfastAutoConfiguration.class))
                .withPropertyValues("holdfast.store=memory:request-at-start")
                .withBean("under test", bean)
                .run(started -> {
                    Throwable failure = started.getStartupFailure();
                    while (failure != null && !(failure instanceof LockedDefinitionException)) {
                        failure = failure.getCause();
                    }
                    assertThat(failure)
                            .isInstanceOf(LockedDefinitionException.class)
                            .hasMessageContaining("@IdempotentRequest on " + bean.getName() + ".method(")
                            .hasMessageContaining(part)
                            .hasMessageContaining("(expected: ");
                });
    }
}
