package io.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.Lease;
import io.holdfast.LocalLock;
import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.LockTimeoutException;
import io.holdfast.MultiLease;
import io.holdfast.spring.boot.Contexts;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.AliasFor;

/** What a call of a locked method holds while it runs, and what it does when others hold it. */
class LockedTest {

    public record Request(long siteId, List<String> parts) {}

    public static class Clock {
        public String today() {
            return "2026-11-21";
        }
    }

    interface Declared {
        @Locked(name = "declared", key = "#id")
        List<String> declared(String id);
    }

    @Target(ElementType.METHOD)
    @Retention(RetentionPolicy.RUNTIME)
    @Locked(name = "composed", waitTime = "0")
    @interface PerTenant {
        @AliasFor(annotation = Locked.class, attribute = "key")
        String[] tenant();
    }

    public static class Work implements Declared {

        private final LockClient client;
        private final Nested nested;

        Work(LockClient client, Nested nested) {
            this.client = client;
            this.nested = nested;
        }

        /** The names that are held while this runs. */
        List<String> held() {
            return client.localLocks().stream()
                    .filter(lock -> lock.lease().isPresent())
                    .map(LocalLock::name)
                    .toList();
        }

        @Locked("plain")
        public List<String> plain() {
            return held();
        }

        @Locked(name = "${work.name:order}.refund", key = "#orderId")
        public List<String> byName(long orderId) {
            return held();
        }

        @Locked(name = "index", key = "#p0 + '-' + #a1")
        public List<String> byIndex(String a, String b) {
            return held();
        }

        @Locked(
                name = "report_data",
                key = {"#request.siteId", "@clock.today()"})
        public List<String> report(Request request) {
            return held();
        }

        @Locked(name = "part", key = "#request.parts")
        public List<String> parts(Request request) {
            return held();
        }

        @Locked(
                name = "root",
                key = {"#root.methodName", "#root.targetClass.simpleName", "#root.args[0]"})
        public List<String> root(String arg) {
            return held();
        }

        @Locked("marked")
        public List<String> marked(@LockKey long tenant, String other, @LockKey String order) {
            return held();
        }

        @Override
        public List<String> declared(String id) {
            return held();
        }

        @Locked(name = "first", key = "#id")
        @Locked(name = "second", condition = "#id > 1")
        public List<String> repeated(int id) {
            return held();
        }

        @Locked(name = "sometimes", condition = "#id > 1")
        public List<String> sometimes(int id) {
            return held();
        }

        @PerTenant(tenant = "#tenant")
        public List<String> composed(String tenant) {
            return held();
        }

        @Locked(name = "busy", waitTime = "0", onBusy = OnBusy.SKIP)
        public Optional<String> skipped() {
            return Optional.of("ran");
        }

        @Locked(name = "busy", waitTime = "0", onBusy = OnBusy.SKIP)
        public List<String> skippedToNull() {
            return List.of();
        }

        @Locked(name = "busy", waitTime = "50ms")
        public List<String> thrown() {
            return held();
        }

        @Locked(name = "busy", waitTime = "0", fallback = "instead")
        public String fallback(String arg) {
            return "ran";
        }

        @SuppressWarnings("UnusedMethod")
        private String instead(String arg) {
            return "instead of " + arg;
        }

        @Locked(name = "busy", waitTime = "unlimited")
        public void interruptible() {}

        @Locked(name = "token", leaseTime = "5s")
        public Duration token(String arg, Lease lease) {
            lease.ensureValid();
            assertThat(lease.fencingToken()).isPositive();
            return lease.remaining();
        }

        @Locked(
                name = "tokens",
                key = {"#a", "#b"})
        public int tokens(int a, int b, MultiLease leases) {
            leases.ensureValid();
            return leases.leases().size();
        }

        @Locked(name = "one", key = "#keys")
        public void oneLease(List<String> keys, Lease lease) {}

        @Locked(name = "any", key = "#key")
        public List<String> any(Object key) {
            return held();
        }

        @Locked("any")
        public List<String> anyMarked(@LockKey Object key) {
            return held();
        }

        @Locked("outer")
        public List<String> nests() {
            return nested.again();
        }

        @Locked(name = "kept", holdAtLeast = "30s")
        public void kept() {}

        @Locked(name = "throws")
        public void fails() throws java.io.IOException {
            throw new java.io.IOException("its own");
        }
    }

    @Locked(name = "nested", key = "'all'")
    public static class Nested {

        private final LockClient client;

        Nested(LockClient client) {
            this.client = client;
        }

        /** The name that the caller holds, and one more. */
        @Locked("outer")
        @Locked("inner")
        public List<String> again() {
            return client.localLocks().stream().map(LocalLock::name).toList();
        }

        public List<String> byClass() {
            return client.localLocks().stream().map(LocalLock::name).toList();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Application {

        @Bean
        Clock clock() {
            return new Clock();
        }

        @Bean
        Nested nested(LockClient client) {
            return new Nested(client);
        }

        @Bean
        Work work(LockClient client, Nested nested) {
            return new Work(client, nested);
        }
    }

    @Test
    void the_name_and_the_keys_make_the_lock_names() {
        run("names", work -> {
            assertThat(work.plain()).containsExactly("plain");
            assertThat(work.byName(42)).containsExactly("order.refund:42");
            assertThat(work.byIndex("a", "b")).containsExactly("index:a-b");
            assertThat(work.report(new Request(7, List.of())))
                    .containsExactly("report_data:2026-11-21", "report_data:7");
            assertThat(work.parts(new Request(7, List.of("b", "a", "b")))).containsExactly("part:a", "part:b");
            assertThat(work.root("x")).containsExactly("root:Work", "root:root", "root:x");
            assertThat(work.marked(3, "-", "o1")).containsExactly("marked:3:o1");
            assertThat(work.declared("i")).containsExactly("declared:i");
            assertThat(work.composed("t")).containsExactly("composed:t");
            assertThat(work.held()).isEmpty();
        });
    }

    @Test
    void several_annotations_are_one_acquisition_and_conditions_choose_among_them() {
        run("several", work -> {
            assertThat(work.repeated(1)).containsExactly("first:1");
            assertThat(work.repeated(2)).containsExactly("first:2", "second");
            assertThat(work.sometimes(1)).isEmpty();
            assertThat(work.sometimes(2)).containsExactly("sometimes");
        });
    }

    @Test
    void a_key_that_is_null_or_empty_is_an_error_and_nothing_runs() {
        run("empty", work -> {
            for (Consumer<Work> call : List.<Consumer<Work>>of(
                    w -> w.declared(null),
                    w -> w.declared(" "),
                    w -> w.parts(new Request(1, List.of())),
                    w -> w.parts(new Request(1, null)),
                    w -> w.marked(1, "", ""))) {
                assertThatThrownBy(() -> call.accept(work))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("@Locked(name = ")
                        .hasMessageContaining("(expected: ");
            }
            assertThatThrownBy(() -> work.oneLease(List.of("a", "b"), null))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("MultiLease");
        });
    }

    @Test
    void an_object_that_cannot_be_told_from_others_is_no_key() {
        class Nameless {}
        run("nameless", work -> {
            for (Consumer<Work> call : List.<Consumer<Work>>of(
                    w -> w.any(new Nameless()),
                    w -> w.any(List.of(new Nameless())),
                    w -> w.any(Optional.of(new Nameless())),
                    w -> w.anyMarked(new Nameless()),
                    w -> w.anyMarked(new long[1]))) {
                assertThatThrownBy(() -> call.accept(work))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("no toString() of its own");
            }
            assertThatThrownBy(() -> work.any(Optional.empty())).hasMessageContaining("is null");
            assertThat(work.any(Optional.of(5L))).containsExactly("any:5");
            assertThat(work.any(Optional.of(List.of(1, 2)))).containsExactly("any:1", "any:2");
        });
    }

    private enum Kind {
        ONLY
    }

    /** Its hash code, and so its text, is another one in each process. */
    @Test
    void an_object_that_is_equal_to_others_but_has_no_text_is_no_key() {
        class Id {

            private final Kind kind = Kind.ONLY;

            @Override
            public boolean equals(Object other) {
                return other instanceof Id id && id.kind == kind;
            }

            @Override
            public int hashCode() {
                return kind.hashCode();
            }
        }
        run("equal", work -> {
            for (Consumer<Work> call : List.<Consumer<Work>>of(
                    w -> w.any(new Id()),
                    w -> w.any(List.of(new Id())),
                    w -> w.any(List.of(List.of(new Id()))),
                    w -> w.anyMarked(new Id()),
                    w -> w.anyMarked(List.of("a", new Id())),
                    w -> w.anyMarked(Optional.of(List.of(new Id()))))) {
                assertThatThrownBy(() -> call.accept(work))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("no toString() of its own");
            }
            assertThat(work.anyMarked(List.of("a", 5))).containsExactly("any:[a, 5]");
            assertThat(work.anyMarked(Kind.ONLY)).containsExactly("any:ONLY");
        });
    }

    @Test
    void a_busy_lock_is_thrown_skipped_or_answered_by_the_fallback() {
        run("busy", work -> {
            assertThat(work.skipped()).contains("ran");
            assertThat(work.fallback("x")).isEqualTo("ran");
            try (LockClient other = LockClient.connect("memory:busy");
                    Lease held = other.tryAcquire("busy").orElseThrow()) {
                assertThatThrownBy(work::thrown)
                        .isInstanceOf(LockTimeoutException.class)
                        .hasMessageContaining("\"busy\"")
                        .hasMessageContaining("50 ms");
                assertThat(work.skipped()).isEmpty();
                assertThat(work.skippedToNull()).isNull();
                assertThat(work.fallback("x")).isEqualTo("instead of x");
                Thread.currentThread().interrupt();
                assertThatThrownBy(work::interruptible).isInstanceOf(CancellationException.class);
                assertThat(Thread.interrupted()).isTrue();
                assertThat(held.isValid()).isTrue();
            }
            assertThat(work.thrown()).containsExactly("busy");
        });
    }

    @Test
    void the_lease_is_there_as_a_parameter() {
        run("parameter", work -> {
            assertThat(work.token("x", null)).isPositive().isLessThanOrEqualTo(Duration.ofSeconds(5));
            assertThat(work.tokens(1, 2, null)).isEqualTo(2);
        });
    }

    @Test
    void a_nested_call_needs_no_lock_that_its_caller_holds() {
        run("reentrant", work -> assertThat(work.nests()).containsExactly("inner", "outer"));
    }

    @Test
    void an_annotation_on_a_class_is_for_its_public_methods() {
        Contexts.memory("class").withUserConfiguration(Application.class).run(context -> {
            Nested nested = context.getBean(Nested.class);
            assertThat(nested.byClass()).containsExactly("nested:all");
        });
    }

    @Test
    void a_lock_stays_for_as_long_as_the_method_says_and_no_thread_waits() {
        run("kept", work -> {
            work.kept();
            assertThat(work.held()).isEmpty();
            try (LockClient other = LockClient.connect("memory:kept")) {
                assertThat(other.tryAcquire("kept")).isEmpty();
                assertThat(other.inspect("kept").remaining().orElseThrow())
                        .isGreaterThan(Duration.ofSeconds(20))
                        .isLessThan(Duration.ofSeconds(32));
            }
        });
    }

    @Test
    void an_exception_of_the_method_passes_and_releases() {
        run("failing", work -> {
            assertThatThrownBy(work::fails)
                    .isInstanceOf(java.io.IOException.class)
                    .hasMessage("its own");
            assertThat(work.held()).isEmpty();
        });
    }

    public static class Plain {

        @Locked(name = "plain", waitTime = "unlimited")
        public Duration remaining(Lease lease) {
            return lease.remaining();
        }
    }

    @Test
    void times_in_the_options_of_the_defaults_are_not_used() throws Exception {
        LockOptions times = LockOptions.defaults().waitAtMost(Duration.ZERO).leaseFor(Duration.ofMillis(500));
        Contexts.memory("defaults")
                .withBean(LockedDefaults.class, () -> new LockedDefaults(Optional.empty(), times))
                .withBean(Plain.class)
                .run(context -> {
                    Plain plain = context.getBean(Plain.class);
                    CompletableFuture<Duration> remaining;
                    try (LockClient other = LockClient.connect("memory:defaults");
                            Lease held = other.acquire("plain")) {
                        remaining = CompletableFuture.supplyAsync(() -> plain.remaining(null));
                        await().until(() -> context.getBean(LockClient.class).localLocks().stream()
                                .anyMatch(lock -> lock.waiting() > 0));
                        assertThat(held.isValid()).isTrue();
                    }
                    assertThat(remaining.get(10, TimeUnit.SECONDS)).isGreaterThan(Duration.ofSeconds(1));
                });
    }

    private static void run(String store, Consumer<Work> test) {
        Contexts.memory(store).withUserConfiguration(Application.class).run(context -> {
            assertThat(context).hasNotFailed();
            test.accept(context.getBean(Work.class));
            assertThat(context.getBean(LockClient.class).localLocks()).isEmpty();
        });
    }
}
