package io.holdfast.samples.sidebyside;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.baomidou.lock.LockInfo;
import com.baomidou.lock.annotation.Lock4j;
import com.baomidou.lock.exception.LockFailureException;
import io.holdfast.LockTimeoutException;
import io.holdfast.spring.LockNameCustomizer;
import io.holdfast.spring.LockTemplate;
import io.holdfast.spring.Locked;
import io.holdfast.testkit.servers.RedisServer;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/** Lock4j's annotation and template, and ours, on the same keys. */
class Lock4jTest {

    /** What an old instance has. */
    static class Old {

        @Lock4j(name = "refund", keys = "#orderId", acquireTimeout = 0)
        public void refund(String orderId, Runnable work) {
            work.run();
        }
    }

    /** What a new instance has. */
    static class New {

        @Locked(name = "refund", key = "#orderId", waitTime = "0")
        public void refund(String orderId, Runnable work) {
            work.run();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import({Old.class, New.class})
    static class Application {

        /** The names of annotated methods as Lock4j makes them, and those of its template as they are. */
        @Bean
        LockNameCustomizer lock4jNames() {
            return name -> name.startsWith("refund:") ? "lock4j:" + name.replaceFirst(":", "#") : name;
        }
    }

    @Test
    void both_annotations_and_both_templates_exclude_each_other() {
        try (RedisServer server = RedisServer.start();
                ConfigurableApplicationContext context = SpringApplication.run(
                        Application.class,
                        "--spring.main.banner-mode=off",
                        "--logging.level.root=warn",
                        "--spring.data.redis.url=" + server.uri(),
                        "--holdfast.name-prefix=",
                        "--holdfast.mode=commands")) {
            Old old = context.getBean(Old.class);
            New moved = context.getBean(New.class);

            old.refund(
                    "42",
                    () -> assertThatThrownBy(() -> moved.refund("42", Lock4jTest::notReached))
                            .isInstanceOf(LockTimeoutException.class));
            moved.refund(
                    "42",
                    () -> assertThatThrownBy(() -> old.refund("42", Lock4jTest::notReached))
                            .isInstanceOf(LockFailureException.class));
            // Another order is another lock, on both sides.
            boolean[] ran = new boolean[1];
            old.refund("42", () -> moved.refund("43", () -> ran[0] = true));
            assertThat(ran[0]).isTrue();

            // A nested call, and a null.
            old.refund(
                    "42",
                    () -> assertThatThrownBy(() -> old.refund("42", Lock4jTest::notReached))
                            .isInstanceOf(LockFailureException.class));
            moved.refund("42", () -> moved.refund("42", () -> ran[0] = false));
            assertThat(ran[0]).isFalse();
            old.refund(
                    null,
                    () -> assertThatThrownBy(() -> old.refund("null", Lock4jTest::notReached))
                            .isInstanceOf(LockFailureException.class));
            assertThatThrownBy(() -> moved.refund(null, Lock4jTest::notReached))
                    .isInstanceOf(IllegalArgumentException.class);

            var oldTemplate = context.getBean(com.baomidou.lock.LockTemplate.class);
            LockTemplate newTemplate = context.getBean(LockTemplate.class);
            LockInfo held = oldTemplate.lock("report:7", 30_000, 0);
            assertThat(held).isNotNull();
            assertThat(newTemplate.tryExecute("report:7", lease -> notReached()))
                    .isFalse();
            assertThat(oldTemplate.releaseLock(held)).isTrue();
            assertThat(newTemplate.tryExecute(
                            "report:7",
                            lease -> assertThat(oldTemplate.lock("report:7", 30_000, 0))
                                    .isNull()))
                    .isTrue();
        }
    }

    private static void notReached() {
        throw new AssertionError("two at once");
    }
}
