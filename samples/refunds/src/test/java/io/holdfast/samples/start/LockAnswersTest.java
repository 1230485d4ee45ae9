package io.holdfast.samples.start;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Lease;
import io.holdfast.LockException;
import io.holdfast.LockStoreException;
import io.holdfast.spring.Locked;
import io.holdfast.spring.test.LockTester;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Import;
import org.springframework.core.env.Environment;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;

@SpringBootTest(webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT)
@Import(LockAnswersTest.Answers.class)
class LockAnswersTest {

    @Autowired
    LockTester locks;

    @Autowired
    Environment environment;

    @Test
    void a_busy_lock_and_a_failing_store_have_codes_of_the_application() throws Exception {
        assertThat(get("/answers/42")).isEqualTo("done");
        Lease elsewhere = locks.holdElsewhere("answers:42");
        assertThat(get("/answers/42")).contains("\"code\":40901").contains("请勿重复提交");
        elsewhere.release();
        assertThat(get("/answers/42")).isEqualTo("done");
        assertThat(get("/answers/of-a-failing-store")).contains("\"code\":50301");
    }

    private String get(String path) throws Exception {
        String port = String.valueOf(environment.getProperty("local.server.port"));
        return HttpClient.newHttpClient()
                .send(
                        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                                .build(),
                        HttpResponse.BodyHandlers.ofString())
                .body();
    }

    @RestController
    static class Answers {

        @GetMapping("/answers/{id}")
        @Locked(name = "answers", key = "#id", waitTime = "0")
        public String answer(@PathVariable("id") String id) {
            if (id.startsWith("of-")) {
                throw failure();
            }
            return "done";
        }

        private static LockException failure() {
            return new LockStoreException("away", "redis://127.0.0.1:6379", null);
        }
    }
}
