package io.holdfast.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LockClient;
import io.holdfast.LockStoreException;
import io.holdfast.spring.LockNameCustomizer;
import io.holdfast.spring.Locked;
import io.holdfast.spring.LogLines;
import io.holdfast.spring.ScheduledLock;
import io.holdfast.spring.call.LockedInterceptor;
import io.holdfast.testkit.servers.ChildJvm;
import io.holdfast.testkit.servers.RedisServer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootVersion;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.Scheduled;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** What a new user meets in the first hours with Spring Boot, each with one sentence that helps. */
@Timeout(120)
class FirstHoursTest {

    static class Orders {

        @Locked(name = "order")
        public boolean ship() {
            return true;
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Application {

        @Bean
        Orders orders() {
            return new Orders();
        }
    }

    @Test
    void a_wait_time_without_a_unit_is_warned_of() {
        assertThat(warnings(HoldfastAutoConfiguration.class, "holdfast.wait-time=10"))
                .singleElement()
                .isEqualTo("WARNING holdfast.wait-time=10 has no unit, so it is 10 milliseconds (expected: for example"
                        + " 10s)");
        assertThat(warnings(HoldfastAutoConfiguration.class, "holdfast.wait-time=10s"))
                .isEmpty();
        assertThat(warnings(HoldfastAutoConfiguration.class, "holdfast.wait-time=0"))
                .isEmpty();
    }

    private static List<String> warnings(Class<?> source, String... settings) {
        try (LogLines log = new LogLines(source)) {
            Contexts.memory("first")
                    .withPropertyValues(settings)
                    .run(context -> assertThat(context).hasNotFailed());
            return log.lines().stream()
                    .filter(each -> each.startsWith("WARNING"))
                    .toList();
        }
    }

    @Test
    void lazy_initialization_is_in_the_startup_line() {
        try (LogLines log = new LogLines(LockClientLifecycle.class)) {
            Contexts.memory("first")
                    .withPropertyValues("spring.main.lazy-initialization=true")
                    .run(context -> assertThat(context).hasNotFailed());
            assertThat(log.lines())
                    .singleElement()
                    .asString()
                    .contains(
                            "0 locked methods so far (lazy initialization: the others are checked at their first use)");
        }
    }

    @Test
    void a_store_that_is_not_opened_yet_is_said_in_words_that_fit() {
        try (LogLines log = new LogLines(LockClientLifecycle.class)) {
            new ApplicationContextRunner()
                    .withConfiguration(AutoConfigurations.of(HoldfastAutoConfiguration.class))
                    .withPropertyValues("holdfast.store=redis://127.0.0.1:1", "holdfast.startup=lazy")
                    .run(context -> assertThat(context).hasNotFailed());
            assertThat(log.lines()).singleElement().asString().endsWith(", store not opened yet");
        }
    }

    @Test
    void a_customizer_that_returns_null_is_named_with_the_lock() {
        Contexts.memory("first")
                .withUserConfiguration(Application.class)
                .withBean("tenant", LockNameCustomizer.class, NoTenant::new)
                .run(context -> assertThatThrownBy(
                                () -> context.getBean(Orders.class).ship())
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining(NoTenant.class.getName())
                        .hasMessageContaining("returned null for the lock \"order\""));
    }

    static class NoTenant implements LockNameCustomizer {
        @Override
        @SuppressWarnings("NullAway") // the mistake
        public String customize(String name) {
            return null;
        }
    }

    @Test
    void the_absent_module_is_the_action() {
        LockSettingsException absent = new LockSettingsException(
                new IllegalArgumentException("store URI scheme: \"zookeeper\" needs the module"
                        + " io.holdfast:holdfast-zookeeper, which is not on the class path"));
        assertThat(absent.wayOut()).startsWith("Add that module to the dependencies");
        assertThat(new LockSettingsException(new IllegalArgumentException("waitAtMost: -1 s")).wayOut())
                .startsWith("Correct holdfast.*");
    }

    @Test
    void the_names_of_boot_2_and_the_switch_from_jedis_are_warned_of() {
        try (RedisServer server = RedisServer.start();
                LogLines log = new LogLines(LockStores.class)) {
            Contexts.boot()
                    .withPropertyValues(
                            "spring.data.redis.url=" + server.uri(),
                            "spring.redis.host=elsewhere",
                            "spring.data.redis.client-type=lettuce")
                    .run(context -> assertThat(context).hasNotFailed());
            assertThat(log.lines())
                    .singleElement()
                    .isEqualTo("WARNING spring.redis.host is the name of Spring Boot 2 and has no effect (expected:"
                            + " spring.data.redis.host)");
            log.lines().clear();
            Contexts.boot()
                    .withPropertyValues("spring.data.redis.url=" + server.uri())
                    .run(context -> assertThat(context).hasNotFailed());
            assertThat(log.lines()).singleElement().asString().contains("Jedis is on the class path, but Lettuce");
        }
    }

    /** There the starter ended in a NoClassDefFoundError, or in a NoSuchMethodError when the application stopped. */
    @Test
    void an_old_boot_is_refused_by_one_sentence() {
        assertThat(new SpringApplication(Application.class).getInitializers())
                .hasAtLeastOneElementOfType(BootVersion.class);
        for (String old : List.of("2.7.18", "3.0.13", "3.3.13")) {
            assertThatThrownBy(() -> BootVersion.check(old))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageStartingWith(
                            "Holdfast's starter needs Spring Boot 3.5 or 4.1, and this is " + old + " (expected:");
        }
        for (String fitting : List.of("3.4.5", "3.5.16", "4.1.1", "20.1.0", SpringBootVersion.getVersion())) {
            BootVersion.check(fitting);
        }
        BootVersion.check(null);
    }

    static class Job {
        @Scheduled(fixedDelay = 60_000)
        @ScheduledLock(name = "job")
        public void run() {}
    }

    /** A scheduler logs the exception of each firing with its causes. */
    @Test
    void a_scheduled_lock_has_no_stack_in_an_outage() {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(HoldfastAutoConfiguration.class))
                .withPropertyValues(
                        "holdfast.store=redis://127.0.0.1:1", "holdfast.startup=lazy", "holdfast.store-timeout=100ms")
                .withBean(Job.class)
                .run(context -> assertThatThrownBy(
                                () -> context.getBean(Job.class).run())
                        .isInstanceOf(LockStoreException.class)
                        .hasNoCause()
                        .satisfies(e -> assertThat(e.getStackTrace()).isEmpty()));
    }

    @Test
    void a_blocking_method_on_an_event_loop_is_warned_of_once() {
        try (LogLines log = new LogLines(LockedInterceptor.class)) {
            Contexts.memory("first").withUserConfiguration(Application.class).run(context -> {
                Orders orders = context.getBean(Orders.class);
                orders.ship();
                assertThat(log.lines()).isEmpty();
                for (int i = 0; i < 2; i++) {
                    assertThat(Mono.fromCallable(orders::ship)
                                    .subscribeOn(Schedulers.parallel())
                                    .block())
                            .isTrue();
                }
            });
            assertThat(log.lines()).singleElement().asString().contains("Orders.ship()", "must not block", "a Mono");
        }
    }

    // --- SIGTERM ---

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(HoldfastAutoConfiguration.class)
    static class Stopped {
        public static void main(String[] args) throws InterruptedException {
            LockClient locks = new SpringApplicationBuilder(Stopped.class)
                    .properties(
                            "holdfast.store=memory:stopped",
                            "spring.main.web-application-type=none",
                            "logging.level.io.holdfast=info")
                    .run(args)
                    .getBean(LockClient.class);
            var unused = locks.acquire("held");
            System.out.println("holding");
            Thread.sleep(60_000);
        }
    }

    @Test
    void the_last_lines_reach_the_log_after_a_sigterm() throws Exception {
        Process jvm = ChildJvm.command(Stopped.class.getName())
                .redirectErrorStream(true)
                .start();
        StringBuilder said = new StringBuilder();
        try (var lines = jvm.inputReader(StandardCharsets.UTF_8)) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                said.append(line).append('\n');
                if (line.equals("holding")) {
                    jvm.toHandle().destroy(); // leaves its output open
                }
            }
        }
        assertThat(jvm.waitFor(30, TimeUnit.SECONDS)).isTrue();
        assertThat(said.toString()).contains("holding", "was lost: the client was closed");
    }
}
