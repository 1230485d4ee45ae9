package io.holdfast.spring.boot4;

import io.holdfast.spring.web.SliceParts;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.webflux.test.autoconfigure.WebFluxTest;
import org.springframework.boot.webmvc.test.autoconfigure.WebMvcTest;
import org.springframework.context.ApplicationContext;
import org.springframework.test.context.ContextConfiguration;
import org.springframework.test.web.reactive.server.WebTestClient;
import org.springframework.test.web.servlet.MockMvc;

/** Boot 4's slices for tests of controllers: they have the answers to failed requests, and need no store. */
class SliceTest {

    @Nested
    @WebMvcTest
    @ContextConfiguration(classes = SliceParts.Application.class)
    class Mvc {

        @Test
        void answers_failed_requests_without_a_store(@Autowired MockMvc mvc, @Autowired ApplicationContext context)
                throws Exception {
            SliceParts.answersWithoutStore(context);
            SliceParts.answers(mvc);
        }
    }

    @Nested
    @WebFluxTest
    @ContextConfiguration(classes = SliceParts.Application.class)
    class Flux {

        @Test
        void answers_failed_requests_without_a_store(
                @Autowired WebTestClient web, @Autowired ApplicationContext context) {
            SliceParts.answersWithoutStore(context);
            SliceParts.answers(web);
        }
    }
}
