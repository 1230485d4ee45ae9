package io.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Lease;
import io.holdfast.LocalLock;
import io.holdfast.LockClient;
import io.holdfast.LockListener;
import io.holdfast.LockTimeoutException;
import io.holdfast.spring.boot.Contexts;
import io.holdfast.spring.declaration.LockedDefinitionException;
import io.holdfast.spring.declaration.LockedNames;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import reactor.core.publisher.Mono;

/** What applications add to locked methods: handlers of busy locks, fallbacks in other beans, names of their own. */
class HooksTest {

    static class BusyException extends RuntimeException {
        private static final long serialVersionUID = 1;

        BusyException(String message) {
            super(message);
        }
    }

    static class OfMethod implements LockFailureHandler {

        @Override
        public Object handle(Method method, @Nullable Object[] arguments, LockTimeoutException failure) {
            return method.getName() + Arrays.toString(arguments) + failure.lockNames();
        }
    }

    public static class Work {

        private final LockClient client;

        Work(LockClient client) {
            this.client = client;
        }

        private List<String> held() {
            return client.localLocks().stream().map(LocalLock::name).toList();
        }

        @Locked(name = "busy", waitTime = "0")
        public String plain() {
            return "ran";
        }

        @Locked(name = "busy", waitTime = "0", onBusy = OnBusy.SKIP)
        public @Nullable String skips() {
            return "ran";
        }

        @Locked(name = "busy", waitTime = "0", failureHandler = OfMethod.class)
        public String handled(String argument) {
            return "ran";
        }

        @Locked(name = "busy", waitTime = "0", failureHandler = OfMethod.class)
        public long wrongType() {
            return 1;
        }

        @Locked(name = "busy", waitTime = "0", fallback = "@fallbacks.instead")
        public String ofBean(String argument) {
            return "ran";
        }

        @Locked(name = "busy", waitTime = "0", fallback = "@hidden.instead")
        public String ofHidden(String argument) {
            return "ran";
        }

        @Locked(name = "busy", waitTime = "0")
        public CompletableFuture<String> stage() {
            return CompletableFuture.completedFuture("ran");
        }

        @Locked(name = "busy", waitTime = "0")
        public Mono<String> mono() {
            return Mono.just("ran");
        }

        @Locked(
                name = "user",
                key = {"#id", "#name"},
                join = true)
        public List<String> joined(String id, @Nullable Object name) {
            return held();
        }

        @Locked(
                name = "user",
                key = {"#id", "#name"})
        public List<String> several(String id, String name) {
            return held();
        }
    }

    public static class Fallbacks {

        /** Shows that the call comes by the proxy. */
        @Locked("fallback")
        public String instead(String argument) {
            return "instead of " + argument;
        }
    }

    static class Hidden {

        String instead(String argument) {
            return "quietly instead of " + argument;
        }
    }

    @Test
    void a_handler_answers_calls_whose_lock_is_busy() {
        runner("handler")
                .withBean(LockFailureHandler.class, () -> (method, arguments, failure) -> {
                    throw new BusyException(method.getName() + " " + failure.lockNames());
                })
                .run(context -> {
                    Work work = context.getBean(Work.class);
                    assertThat(work.plain()).isEqualTo("ran");
                    try (LockClient other = LockClient.connect("memory:hooks-handler");
                            Lease held = other.acquire("busy")) {
                        assertThatThrownBy(work::plain)
                                .isInstanceOf(BusyException.class)
                                .hasMessage("plain [busy]");
                        assertThatThrownBy(() -> work.stage().get(10, TimeUnit.SECONDS))
                                .hasCauseInstanceOf(BusyException.class);
                        assertThatThrownBy(() -> work.mono().block()).isInstanceOf(BusyException.class);
                        assertThat(work.skips()).isNull();
                        assertThat(work.handled("a")).isEqualTo("handled[a][busy]");
                        assertThatThrownBy(work::wrongType)
                                .isInstanceOf(IllegalStateException.class)
                                .hasMessageContaining("returned a java.lang.String for ")
                                .hasMessageContaining("(expected: a long, or an exception)");
                        assertThat(work.ofBean("b")).isEqualTo("instead of b");
                        assertThat(held.isValid()).isTrue();
                    }
                });
    }

    @Test
    void a_fallback_of_another_bean_is_called_by_its_proxy() {
        runner("fallback").run(context -> {
            Work work = context.getBean(Work.class);
            try (LockClient other = LockClient.connect("memory:hooks-fallback");
                    Lease held = other.acquire("busy");
                    Lease locked = other.acquire("fallback")) {
                CompletableFuture<String> result = CompletableFuture.supplyAsync(() -> work.ofBean("b"));
                org.awaitility.Awaitility.await()
                        .until(() -> context.getBean(LockClient.class).localLocks().stream()
                                .anyMatch(each -> each.name().equals("fallback") && each.waiting() == 1));
                assertThat(result).isNotDone();
                locked.release();
                assertThat(result.get(10, TimeUnit.SECONDS)).isEqualTo("instead of b");
                assertThat(held.isValid()).isTrue();
            }
        });
    }

    @Test
    void neither_a_fallback_nor_its_class_needs_to_be_public() {
        runner("hidden").run(context -> {
            try (LockClient other = LockClient.connect("memory:hooks-hidden");
                    Lease held = other.acquire("busy")) {
                assertThat(context.getBean(Work.class).ofHidden("b")).isEqualTo("quietly instead of b");
                assertThat(held.isValid()).isTrue();
            }
        });
    }

    static class NoBean {
        @Locked(name = "x", fallback = "@nobody.method")
        public void method() {}
    }

    static class NoMethod {
        @Locked(name = "x", fallback = "@fallbacks.nothing")
        public void method() {}
    }

    static class SkipsAndHandles {
        @Locked(name = "x", onBusy = OnBusy.SKIP, failureHandler = OfMethod.class)
        public void method() {}
    }

    static class FallsAndHandles {
        @Locked(name = "x", fallback = "other", failureHandler = OfMethod.class)
        public void method() {}

        public void other() {}
    }

    static class JoinsOne {
        @Locked(name = "x", key = "#a", join = true)
        public void method(long a) {}
    }

    @ParameterizedTest
    @CsvSource({
        "NoBean, there is no bean \"nobody\"",
        "NoMethod, fallback \"@fallbacks.nothing\" does not exist",
        "SkipsAndHandles, more than one of",
        "FallsAndHandles, more than one of",
        "JoinsOne, not several keys"
    })
    void a_declaration_that_cannot_work_stops_the_start(String bean, String why) throws Exception {
        runner("refused")
                .withBean(Class.forName(HooksTest.class.getName() + "$" + bean))
                .run(context -> assertThat(context.getStartupFailure())
                        .rootCause()
                        .isInstanceOf(LockedDefinitionException.class)
                        .hasMessageContaining(why));
    }

    @Test
    void several_keys_are_several_locks_or_one_if_they_are_joined() {
        runner("join").run(context -> {
            Work work = context.getBean(Work.class);
            assertThat(work.several("1", "ada")).containsExactly("user:1", "user:ada");
            assertThat(work.joined("1", "ada")).containsExactly("user:1:ada");
            assertThatThrownBy(() -> work.joined("1", null))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("key \"#name\" is null");
            assertThatThrownBy(() -> work.joined("1", List.of("a")))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("key \"#name\" has several elements");
        });
    }

    @Test
    void a_customizer_changes_the_names_and_not_the_metric_tag() {
        ThreadLocal<String> tenant = ThreadLocal.withInitial(() -> "acme");
        runner("customizer")
                .withBean(LockNameCustomizer.class, () -> name -> tenant.get() + ":" + name)
                .run(context -> {
                    Work work = context.getBean(Work.class);
                    assertThat(work.several("1", "ada")).containsExactly("acme:user:1", "acme:user:ada");
                    tenant.set("umbrella");
                    assertThat(work.joined("1", "ada")).containsExactly("umbrella:user:1:ada");
                    // Both lock the same name, and the template's caller finds the lease by its own.
                    LockTemplate template = context.getBean(LockTemplate.class);
                    String locked = template.execute("user:1", lease -> lease.name());
                    assertThat(locked).isEqualTo("umbrella:user:1");
                    String of = template.executeAll(
                            List.of("a", "b"),
                            leases -> leases.keySet() + leases.get("a").name());
                    assertThat(of).isEqualTo("[a, b]umbrella:a");
                    assertThat(context.getBean(LockedNames.class).tag("umbrella:user:1:ada"))
                            .isEqualTo("user");
                });
        runner("plain")
                .run(context -> assertThat(context.getBean(LockedNames.class).tag("umbrella:user:1:ada"))
                        .isEqualTo("other"));
    }

    @Test
    void each_listener_bean_receives_each_event() {
        BlockingQueue<String> received = new LinkedBlockingQueue<>();
        runner("listeners")
                .withBean("first", LockListener.class, () -> listener("first", received))
                .withBean("second", LockListener.class, () -> listener("second", received))
                .run(context -> {
                    context.getBean(Work.class).plain();
                    assertThat(List.of(received.take(), received.take()))
                            .containsExactlyInAnyOrder("first busy", "second busy");
                });
    }

    private static LockListener listener(String which, Collection<String> received) {
        return new LockListener() {
            @Override
            public void acquired(String name, long fencingToken, Duration waited) {
                received.add(which + " " + name);
            }
        };
    }

    private static ApplicationContextRunner runner(String store) {
        return Contexts.memory("hooks-" + store)
                .withBean("fallbacks", Fallbacks.class)
                .withBean("hidden", Hidden.class)
                .withBean("work", Work.class);
    }
}
