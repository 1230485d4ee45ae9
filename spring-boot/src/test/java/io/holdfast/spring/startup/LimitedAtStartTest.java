package io.holdfast.spring.startup;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.Permits;
import io.holdfast.memory.MemoryLockStoreProvider;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreContext;
import io.holdfast.spring.Limited;
import io.holdfast.spring.LockKey;
import io.holdfast.spring.LockNameCustomizer;
import io.holdfast.spring.Locked;
import io.holdfast.spring.LogLines;
import io.holdfast.spring.OnBusy;
import io.holdfast.spring.boot.Contexts;
import io.holdfast.spring.boot.LockStoreFactory;
import io.holdfast.spring.declaration.LockedDefinitionException;
import io.holdfast.spring.declaration.LockedMethods;
import io.holdfast.testkit.servers.RedisServer;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.util.Optional;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.Scheduled;

/** A method that cannot be limited fails the start: no fault waits for its first call, and nothing runs unlimited. */
public class LimitedAtStartTest {

    static class NoPermits {
        @Limited("x")
        public void method() {}
    }

    static class Zero {
        @Limited(name = "x", permits = "0")
        public void method() {}
    }

    static class Negative {
        @Limited(name = "x", permits = "${of.nobody:-1}")
        public void method() {}
    }

    static class TooMany {
        @Limited(name = "x", permits = "1048577")
        public void method() {}
    }

    static class FarTooMany {
        @Limited(name = "x", permits = "99999999999999999999")
        public void method() {}
    }

    static class TooHeavy {
        @Limited(name = "x", permits = "2", weight = "3")
        public void method() {}
    }

    static class Weightless {
        @Limited(name = "x", permits = "2", weight = "0")
        public void method() {}
    }

    static class HeavyForAny {
        @Limited(name = "x", permits = "#p0", weight = "1048577")
        public void method(int limit) {}
    }

    static class NoNumber {
        @Limited(name = "x", permits = "five")
        public void method() {}
    }

    static class UnknownParameter {
        @Limited(name = "x", permits = "#limit")
        public void method() {}
    }

    static class NoValue {
        @Limited(name = "x", permits = "${of.nobody}")
        public void method() {}
    }

    static class Nameless {
        @Limited(permits = "5")
        public void method() {}
    }

    static class Final {
        @Limited(name = "x", permits = "5")
        public final void method() {}
    }

    static class AtItsMaking {
        @jakarta.annotation.PostConstruct
        @Limited(name = "x", permits = "5")
        public void method() {
            throw new AssertionError("unlimited");
        }
    }

    static class LimitedFallback {
        @Limited(name = "x", permits = "5", fallback = "other")
        public void method() {}

        @Limited(name = "y", permits = "5")
        public void other() {}
    }

    static class PrimitiveSkip {
        @Limited(name = "x", permits = "5", onBusy = OnBusy.SKIP)
        public boolean method() {
            return true;
        }
    }

    static class UnknownWork {
        @Limited(name = "x", permits = "5")
        public Future<String> method() {
            throw new AssertionError();
        }
    }

    static class NoSuchClient {
        @Locked("x")
        @Limited(name = "x", permits = "5", client = "elsewhere")
        public void method() {}
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            NoPermits        | it has no permits (expected: permits = "5", for example)
            Zero             | permits = "0" (expected: from 1 to 1048576)
            Negative         | permits = "-1" (expected: from 1 to 1048576)
            TooMany          | permits = "1048577" (expected: from 1 to 1048576)
            FarTooMany       | (expected: from 1 to 1048576)
            TooHeavy         | weight = "3" (expected: from 1 to 2, the permits)
            Weightless       | weight = "0" (expected: from 1 to 2, the permits)
            HeavyForAny      | weight = "1048577" (expected: from 1 to 1048576)
            NoNumber         | permits "five": "five" is neither a parameter
            UnknownParameter | there is no parameter "limit"
            NoValue          | permits "${of.nobody}" has a placeholder without a value
            Nameless         | it has no name
            Final            | a final method cannot be intercepted, so it would run without its permit
            AtItsMaking      | the container calls it on the object itself, past every proxy, so it would run without its permit
            LimitedFallback  | fallback "other" is locked itself
            PrimitiveSkip    | returns boolean
            UnknownWork      | java.util.concurrent.Future
            NoSuchClient     | no LockClient with the name or qualifier "elsewhere"
            """)
    void stops_the_start(String type, String message) throws ClassNotFoundException {
        Class<?> bean = Class.forName(LimitedAtStartTest.class.getName() + "$" + type);
        Contexts.memory("start").withBean(bean).run(context -> {
            assertThat(context).hasFailed();
            assertThat(rootOf(context.getStartupFailure()))
                    .isInstanceOf(LockedDefinitionException.class)
                    .hasMessageStartingWith(
                            "@Limited on " + LimitedAtStartTest.class.getName() + "$" + type + ".method(")
                    .hasMessageContaining(message)
                    .hasMessageContaining("(expected: ");
        });
    }

    static class Fine {
        @Limited(name = "x", permits = "5")
        public String method() {
            return "ran";
        }

        @Locked("x")
        @Limited(name = "x", permits = "5")
        public void both(Lease lease) {}
    }

    @Test
    void a_store_without_permits_stops_the_start() {
        LockStoreFactory store = context -> withoutPools(context, "memory:without");
        Contexts.memory("none")
                .withBean(LockStoreFactory.class, () -> store)
                .withBean(Fine.class)
                .run(context -> {
                    assertThat(context).hasFailed();
                    assertThat(rootOf(context.getStartupFailure()))
                            .isInstanceOf(LockedDefinitionException.class)
                            .hasMessageMatching("@Limited on .*Fine\\..* has no permits and no read-write locks"
                                    + " \\(expected: Redis in mode lua, ZooKeeper, a database, or memory\\)");
                });
    }

    @Test
    void the_mode_commands_of_redis_stops_the_start_and_the_mode_lua_does_not() throws Exception {
        try (RedisServer server = RedisServer.start()) {
            Contexts.boot()
                    .withPropertyValues("spring.data.redis.url=" + server.uri(), "holdfast.mode=commands")
                    .withBean(Fine.class)
                    .run(context -> assertThat(rootOf(context.getStartupFailure()))
                            .hasMessageContaining("has no permits and no read-write locks"));
            Contexts.boot()
                    .withPropertyValues("spring.data.redis.url=" + server.uri(), "holdfast.mode=lua")
                    .withBean(Fine.class)
                    .run(context -> {
                        assertThat(context).hasNotFailed();
                        assertThat(context.getBean(Fine.class).method()).isEqualTo("ran");
                    });
        }
    }

    @Test
    void limited_methods_are_counted_beside_the_locked_ones() {
        Contexts.memory("count").withBean(Fine.class).run(context -> {
            assertThat(context.getBean(LockedMethods.class).describeCount())
                    .isEqualTo("1 locked method, 2 limited methods");
            assertThat(context.getBean(LockClient.class).hasPermits()).isTrue();
        });
    }

    static class Five {
        @Limited(name = "export", permits = "5")
        public void csv() {}

        @Limited(name = "import", key = "#tenant", permits = "5")
        public void rows(String tenant) {}

        @Limited(name = "call", permits = "5")
        public void call(@LockKey String partner) {}
    }

    static class Three {
        @Limited(name = "export", permits = "${exports:3}")
        public void pdf() {}
    }

    static class ThreeByKey {
        @Limited(name = "import", key = "#tenant", permits = "3")
        public void files(int count, String tenant) {}
    }

    static class ThreeByParameter {
        @Limited(name = "call", permits = "3")
        public void ask(int attempts, @LockKey String partner) {}
    }

    @ParameterizedTest
    @CsvSource(textBlock = """
            Three, pdf(), export, csv()
            ThreeByKey, 'files(int, String)', import:#tenant, rows(String)
            ThreeByParameter, 'ask(int, String)', call:@LockKey, call(String)
            """)
    void two_limits_of_the_same_permits_stop_the_start(String type, String method, String name, String first)
            throws ClassNotFoundException {
        String own = LimitedAtStartTest.class.getName() + "$";
        Contexts.memory("two")
                .withBean(Five.class)
                .withBean(Class.forName(own + type))
                .run(context -> {
                    assertThat(context).hasFailed();
                    assertThat(rootOf(context.getStartupFailure()))
                            .isInstanceOf(LockedDefinitionException.class)
                            .hasMessage("@Limited on " + own + type + "." + method + ": its limit of \"" + name
                                    + "\" is 3, but that of @Limited on " + own + "Five." + first
                                    + " is 5, and the smaller one would hold up all calls"
                                    + " (expected: one limit, for example by one property, or two names)");
                });
    }

    @Test
    void a_bean_and_a_method_with_two_limits_stop_the_start() {
        for (boolean beanFirst : new boolean[] {true, false}) {
            ApplicationContextRunner empty = Contexts.memory("bean");
            ApplicationContextRunner one = beanFirst ? withExports(empty, 4) : empty.withBean(Five.class);
            ApplicationContextRunner both = beanFirst ? one.withBean(Five.class) : withExports(one, 4);
            both.run(context -> assertThat(rootOf(context.getStartupFailure()))
                    .isInstanceOf(LockedDefinitionException.class)
                    .hasMessageContaining("Permits bean \"exports\"")
                    .hasMessageContaining("@Limited on " + Five.class.getName() + ".csv()")
                    .hasMessageContaining("is 4")
                    .hasMessageContaining("is 5")
                    .hasMessageEndingWith("(expected: one limit, for example by one property, or two names)"));
        }
    }

    static class Others {
        @Limited(name = "export", permits = "5")
        public void same() {}

        @Limited(name = "export", permits = "#limit")
        public void evaluated(int limit) {}

        @Limited(name = "export", key = "#tenant", permits = "2")
        public void keyed(String tenant) {}
    }

    @Test
    void other_permits_and_limits_that_each_call_evaluates_start() {
        withExports(Contexts.memory("fine").withBean(Five.class).withBean(Others.class), 5)
                .run(context -> assertThat(context).hasNotFailed());
        withExports(Contexts.memory("custom").withBean(Five.class), 4)
                .withBean(LockNameCustomizer.class, () -> name -> "tenant:" + name)
                .run(context -> assertThat(context).hasNotFailed());
        withExports(Contexts.memory("clients").withBean(Five.class), 4)
                .withBean(
                        "one", LockClient.class, () -> LockClient.connect("memory:one"), each -> each.setPrimary(true))
                .withBean("two", LockClient.class, () -> LockClient.connect("memory:two"))
                .run(context -> assertThat(context).hasNotFailed());
    }

    private static ApplicationContextRunner withExports(ApplicationContextRunner runner, int limit) {
        return runner.withUserConfiguration(Exports.class).withPropertyValues("exports.limit=" + limit);
    }

    @Configuration(proxyBeanMethods = false)
    static class Exports {
        @Bean
        Permits exports(LockClient locks, @Value("${exports.limit}") int limit) {
            return locks.permits("export", limit);
        }
    }

    static class Job {
        @Scheduled(fixedDelay = 1_000_000)
        @Limited(name = "job", permits = "2")
        public void job() {}
    }

    @Test
    void an_error_at_each_firing_is_announced() {
        try (LogLines log = new LogLines(LockedBeanPostProcessor.class)) {
            Contexts.memory("job")
                    .withBean(Job.class)
                    .run(context -> assertThat(log.lines())
                            .anyMatch(
                                    line -> line.contains("@Limited on " + Job.class.getName() + ".job() is scheduled")
                                            && line.endsWith("(expected: onBusy = SKIP)")));
        }
    }

    private static LockStore withoutPools(StoreContext context, String uri) {
        LockStore store = new MemoryLockStoreProvider().open(URI.create(uri), context);
        return (LockStore) Proxy.newProxyInstance(
                LockStore.class.getClassLoader(), new Class<?>[] {LockStore.class}, (self, method, args) -> {
                    if (method.getName().equals("pools")) {
                        return Optional.empty();
                    }
                    try {
                        return method.invoke(store, args);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    private static Throwable rootOf(Throwable failure) {
        Throwable root = failure;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        return root;
    }
}
