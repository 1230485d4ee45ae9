package io.holdfast.spring.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockStoreException;
import io.holdfast.spring.LogLines;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.http.HttpMethod;

/** The log's lines of requests that were answered with 503: what they say, and how many there are in an outage. */
class FaultLinesTest {

    private static final String FAULT = ": io.holdfast.LockStoreException: no answer";

    private final AtomicLong now = new AtomicLong(Long.MAX_VALUE - 1); // overflows, as System.nanoTime() may
    private final LockExceptionAdvice advice =
            new LockExceptionAdvice(409, Duration.ofSeconds(5), Integer.MAX_VALUE, now::get);

    private void fail(@Nullable String servletPath, @Nullable String reactivePath) {
        LockStoreException e = new LockStoreException("no answer", "redis://10.0.0.7:6379", null);
        advice.fault(e, HttpMethod.POST, servletPath, reactivePath, Locale.ROOT);
    }

    @Test
    void a_line_has_the_method_the_path_and_the_fault() {
        try (LogLines log = new LogLines(LockExceptionAdvice.class)) {
            fail("/refund/17", null);
            fail(null, "/later/17");
            fail(null, null);
            fail("/refund/1\n7", null);
            assertThat(log.lines())
                    .containsExactly(
                            "WARNING A request was answered with 503: POST /refund/17" + FAULT,
                            "WARNING A request was answered with 503: POST /later/17" + FAULT,
                            "WARNING A request was answered with 503: POST" + FAULT,
                            "WARNING A request was answered with 503: POST /refund/1\\u000a7" + FAULT);
        }
    }

    @Test
    void an_outage_is_ten_lines_in_ten_seconds_and_the_next_line_counts_the_others() {
        try (LogLines log = new LogLines(LockExceptionAdvice.class)) {
            for (int i = 0; i < 10 + 7; i++) {
                fail("/refund/" + i, null);
            }
            assertThat(log.lines()).hasSize(10).noneMatch(each -> each.contains("more since"));
            now.addAndGet(Duration.ofSeconds(10).toNanos() - 1);
            fail("/still", null);
            assertThat(log.lines()).hasSize(10);

            now.addAndGet(1);
            fail("/next", null);
            fail("/last", null);
            assertThat(log.lines().subList(10, 12))
                    .containsExactly(
                            "WARNING A request was answered with 503: POST /next" + FAULT
                                    + " (and 8 more since the line before)",
                            "WARNING A request was answered with 503: POST /last" + FAULT);
        }
    }
}
