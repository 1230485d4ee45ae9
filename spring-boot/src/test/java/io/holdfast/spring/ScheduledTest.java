package io.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.spring.boot.Contexts;
import io.holdfast.spring.startup.LockedBeanPostProcessor;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

/** Scheduled methods under a lock that another node holds. */
class ScheduledTest {

    @EnableScheduling
    @Configuration(proxyBeanMethods = false)
    static class Scheduling {}

    public static class Throws {

        @Scheduled(fixedDelay = 50)
        @Locked(name = "job", waitTime = "0")
        public void job() {}
    }

    public static class Skips {

        private final AtomicInteger runs = new AtomicInteger();

        public int runs() {
            return runs.get();
        }

        @Scheduled(fixedDelay = 50)
        @ScheduledLock(name = "job", atLeast = "30s", atMost = "40s")
        public void job() {
            runs.incrementAndGet();
        }
    }

    @Test
    void an_error_at_each_firing_is_announced_at_startup_and_has_no_stack() throws Exception {
        ListAppender<ILoggingEvent> errors = new ListAppender<>();
        errors.start();
        Logger scheduler = (Logger) LoggerFactory.getLogger("org.springframework.scheduling.support");
        scheduler.addAppender(errors);
        try (LogLines warnings = new LogLines(LockedBeanPostProcessor.class);
                LockClient other = LockClient.connect("memory:scheduled");
                Lease held = other.acquire("job")) {
            Contexts.memory("scheduled")
                    .withUserConfiguration(Scheduling.class)
                    .withBean(Throws.class)
                    .run(context -> {
                        assertThat(warnings.lines())
                                .singleElement()
                                .asString()
                                .contains("WARNING", "Throws.job()", "is scheduled", "@ScheduledLock");
                        await().until(() -> !errors.list.isEmpty());
                    });
            assertThat(errors.list.get(0).getThrowableProxy().getClassName())
                    .isEqualTo("io.holdfast.LockTimeoutException");
            assertThat(errors.list.get(0).getThrowableProxy().getStackTraceElementProxyArray())
                    .isEmpty();
            assertThat(held.isValid()).isTrue();
        } finally {
            scheduler.detachAppender(errors);
        }
    }

    @Test
    void a_scheduled_lock_skips_the_firings_that_find_it_taken() throws Exception {
        try (LogLines warnings = new LogLines(LockedBeanPostProcessor.class);
                LockClient other = LockClient.connect("memory:scheduled-lock")) {
            Lease held = other.acquire("job");
            Contexts.memory("scheduled-lock")
                    .withUserConfiguration(Scheduling.class)
                    .withBean(Skips.class)
                    .run(context -> {
                        Skips skips = context.getBean(Skips.class);
                        skips.job();
                        assertThat(skips.runs()).isZero();
                        held.release();
                        await().untilAsserted(() -> assertThat(skips.runs()).isEqualTo(1));
                        // Kept for 30 seconds: no other node runs the same firing.
                        assertThat(other.tryAcquire("job")).isEmpty();
                        skips.job();
                        assertThat(skips.runs()).isEqualTo(1);
                    });
            assertThat(warnings.lines()).isEmpty();
        }
    }
}
