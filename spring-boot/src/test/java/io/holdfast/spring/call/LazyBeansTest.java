package io.holdfast.spring.call;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import io.holdfast.LockClient;
import io.holdfast.spring.LockNameCustomizer;
import io.holdfast.spring.LockTemplate;
import io.holdfast.spring.Locked;
import io.holdfast.spring.LockedConfiguration;
import io.micrometer.observation.ObservationRegistry;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Lazy;

/**
 * Locked calls look beans up while they hold no lock of this library. Otherwise two threads could wait for each other:
 * one looks a bean up and waits for Spring's lock of the singletons, the other has that lock and needs the same bean.
 */
class LazyBeansTest {

    public static class Work {
        @Locked("lazy")
        public void method() {}
    }

    /** A bean that makes a locked call while it is created, after another thread has begun one. */
    static class Caller {

        private final Thread other;

        Caller(Runnable lockedCall) throws InterruptedException {
            other = new Thread(lockedCall, "looks up");
            other.setDaemon(true);
            other.start();
            while (other.isAlive() && other.getState() != Thread.State.WAITING) {
                Thread.sleep(1);
            }
            assertThat(other.isAlive()).as("waits for Spring's lock").isTrue();
            lockedCall.run();
        }
    }

    @Lazy
    @Configuration(proxyBeanMethods = false)
    @Import(LockedConfiguration.class)
    static class Application {

        @Bean
        LockClient client() {
            return LockClient.connect("memory:lazy");
        }

        @Bean
        LockNameCustomizer names() {
            return name -> name;
        }

        @Bean
        ObservationRegistry observations() {
            return ObservationRegistry.create();
        }

        @Bean
        Work work() {
            return new Work();
        }

        @Bean
        Caller method(Work work) throws InterruptedException {
            return new Caller(work::method);
        }

        @Bean
        Caller template(LockTemplate template) throws InterruptedException {
            return new Caller(() -> template.executeWithoutResult("lazy", lease -> {}));
        }
    }

    @ParameterizedTest
    @CsvSource({
        "client, method",
        "names, method",
        "observations, method",
        "client, template",
        "names, template",
        "observations, template"
    })
    void two_threads_that_need_the_same_lazy_bean_do_not_wait_for_each_other(String lazy, String caller) {
        assertTimeoutPreemptively(
                Duration.ofSeconds(20),
                () -> new ApplicationContextRunner()
                        .withUserConfiguration(Application.class)
                        .run(context -> {
                            Stream.of("client", "names", "observations")
                                    .filter(name -> !name.equals(lazy))
                                    .forEach(context::getBean);
                            context.getBean(caller, Caller.class).other.join();
                        }));
    }
}
