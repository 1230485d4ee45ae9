package io.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.LockClient;
import io.holdfast.LockTimeoutException;
import io.holdfast.MultiLease;
import io.holdfast.memory.MemoryLockStoreProvider;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.TimeSource;
import io.holdfast.spring.boot.Contexts;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.net.URI;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.AliasFor;

/** What a call of a limited method holds while it runs, and what it does when others hold the permits. */
class LimitedTest {

    @Target(ElementType.METHOD)
    @Retention(RetentionPolicy.RUNTIME)
    @Limited(name = "tenant", permits = "2", waitTime = "0")
    @interface PerTenant {
        @AliasFor(annotation = Limited.class, attribute = "key")
        String value();
    }

    public static class Limits {
        public int of(String tenant) {
            return tenant.length();
        }
    }

    public static class Work {

        private final Nested nested;
        private final LockTemplate template;

        Work(Nested nested, LockTemplate template) {
            this.nested = nested;
            this.template = template;
        }

        @Limited(name = "export", permits = "2", waitTime = "50ms")
        public <T> T export(Supplier<T> work) {
            return work.get();
        }

        @Limited(name = "export", permits = "${export.permits:2}", weight = "${export.weight:2}", waitTime = "0")
        public String large() {
            return "ran";
        }

        @Limited(name = "any", permits = "#limit", weight = "#weight", waitTime = "0")
        public String any(@Nullable Object limit, Object weight) {
            return "ran";
        }

        @Limited(
                name = "keyed",
                key = {"#tenant", "#region"},
                permits = "@limits.of(#tenant)",
                waitTime = "0")
        public String keyed(String tenant, Object region, Supplier<String> work) {
            return work.get();
        }

        @Limited(name = "marked", permits = "1", waitTime = "0")
        public String marked(@LockKey String tenant, Supplier<String> work) {
            return work.get();
        }

        @PerTenant("#tenant")
        public String composed(String tenant, Supplier<String> work) {
            return work.get();
        }

        @Limited(name = "sometimes", permits = "1", waitTime = "0", condition = "#needed")
        public String sometimes(boolean needed) {
            return "ran";
        }

        @Limited(name = "busy", permits = "1", waitTime = "0", onBusy = OnBusy.SKIP)
        public Optional<String> skipped() {
            return Optional.of("ran");
        }

        @Limited(name = "busy", permits = "1", waitTime = "0", fallback = "instead")
        public String replaced(String arg) {
            return "ran";
        }

        @SuppressWarnings("UnusedMethod")
        private String instead(String arg) {
            return "instead of " + arg;
        }

        @Limited(name = "busy", permits = "1", waitTime = "0", failureHandler = Handler.class)
        public String handled() {
            return "ran";
        }

        @Limited(name = "lease", permits = "1")
        public boolean lease(@Nullable Lease lease) {
            lease.ensureValid();
            return lease.isExclusive();
        }

        @Limited(name = "lease", permits = "1")
        public String leases(@Nullable MultiLease leases) {
            leases.ensureValid();
            return leases.lease("lease").name();
        }

        @Limited(name = "outer", permits = "3", weight = "2", waitTime = "0")
        public String nests(String which) {
            return switch (which) {
                case "same" -> nested.same();
                case "more" -> nested.more();
                case "template" ->
                    template.withPermits(3).<String, RuntimeException>execute("outer", permit -> "template");
                case "lock" -> nested.lock();
                default -> throw new IllegalArgumentException(which);
            };
        }

        @Limited(name = "both", permits = "1", waitTime = "50ms")
        @Locked(name = "both", waitTime = "unlimited")
        public <T> T both(@Nullable Lease lease, Supplier<T> work) {
            assertThat(lease.isExclusive()).isTrue();
            return work.get();
        }

        @Limited(name = "held", permits = "1")
        public void isLost(Runnable lose) {
            lose.run();
        }
    }

    public static class Handler implements LockFailureHandler {
        @Override
        public Object handle(
                java.lang.reflect.Method method, @Nullable Object[] arguments, LockTimeoutException failure) {
            return method.getName() + " " + failure.lockNames();
        }
    }

    @Limited(name = "outer", permits = "3", waitTime = "0")
    public static class Nested {

        public String same() {
            return "same";
        }

        @Limited(name = "outer", permits = "3", weight = "3", waitTime = "0")
        public String more() {
            return "more";
        }

        /** The lock of the name has no connection with its permits. */
        @Locked(name = "outer", waitTime = "0")
        public String lock() {
            return "lock";
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Application {

        @Bean
        Limits limits() {
            return new Limits();
        }

        @Bean
        Nested nested() {
            return new Nested();
        }

        @Bean
        Work work(Nested nested, LockTemplate template) {
            return new Work(nested, template);
        }
    }

    @Test
    void so_many_callers_run_at_once_and_no_more() {
        run("limit", (work, other) -> {
            try (Lease first = other.permits("export", 2).acquire()) {
                assertThat(work.<String>export(() -> "second")).isEqualTo("second");
                work.<Void>export(() -> {
                    assertThat(other.permits("export", 2).tryAcquire()).isEmpty();
                    return null;
                });
                try (Lease second = other.permits("export", 2).acquire()) {
                    assertThatThrownBy(() -> work.export(() -> "third"))
                            .isInstanceOf(LockTimeoutException.class)
                            .hasMessageContaining("permits of \"export\" (limit 2, weight 1) were held by others");
                    assertThat(second.isValid()).isTrue();
                }
                assertThatThrownBy(work::large).hasMessageContaining("(limit 2, weight 2)");
                assertThat(first.isValid()).isTrue();
            }
            assertThat(work.large()).isEqualTo("ran");
        });
    }

    @Test
    void an_expression_gives_each_call_its_limit_and_its_weight() {
        run("expressions", (work, other) -> {
            try (Lease held = other.permits("any", 5).weight(2).acquire()) {
                assertThat(work.any(3, 1)).isEqualTo("ran");
                assertThat(work.any(4L, (short) 2)).isEqualTo("ran");
                assertThatThrownBy(() -> work.any(3, 2)).isInstanceOf(LockTimeoutException.class);
                assertThatThrownBy(() -> work.any(2, 1)).isInstanceOf(LockTimeoutException.class);
                assertThat(held.isValid()).isTrue();
            }
            for (Object[] wrong : new Object[][] {
                {0, 1, "permits: 0 (expected: from 1 to 1048576)"},
                {(1 << 20) + 1, 1, "permits: 1048577 (expected: from 1 to 1048576)"},
                {2, 3, "weight: 3 (expected: from 1 to the permits, 2)"},
                {2, 0, "weight: 0 (expected: from 1 to the permits, 2)"},
                {null, 1, "permits \"#limit\" is null (expected: a whole number)"},
                {1.5, 1, "permits \"#limit\" is 1.5 (expected: a whole number)"},
                {"5", 1, "permits \"#limit\" is 5 (expected: a whole number)"}
            }) {
                assertThatThrownBy(() -> work.any(wrong[0], wrong[1]))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("@Limited")
                        .hasMessageContaining("Work.any(Object, Object): ")
                        .hasMessageContaining((String) wrong[2]);
            }
        });
    }

    @Test
    void keys_make_one_name_with_permits_of_its_own() {
        run("keys", (work, other) -> {
            assertThat(work.keyed("ab", 7, () -> {
                        assertThat(other.permits("keyed:ab:7", 2).weight(2).tryAcquire())
                                .isEmpty();
                        return work.keyed("abc", 7, () -> "both");
                    }))
                    .isEqualTo("both");
            assertThat(work.marked("a", () -> work.marked("b", () -> "both"))).isEqualTo("both");
            assertThat(work.composed("a", () -> {
                        assertThat(other.permits("tenant:a", 2).weight(2).tryAcquire())
                                .isEmpty();
                        return "composed";
                    }))
                    .isEqualTo("composed");
            assertThatThrownBy(() -> work.keyed("ab", java.util.List.of(1, 2), () -> "never"))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("@Limited(name = \"keyed\")")
                    .hasMessageContaining("key \"#region\" has several elements (expected: one value)");
            assertThatThrownBy(() -> work.keyed("", 1, () -> "never")).hasMessageContaining("would all share a permit");
        });
    }

    @Test
    void busy_permits_are_skipped_or_something_else_answers() {
        run("busy", (work, other) -> {
            try (Lease held = other.permits("busy", 1).acquire();
                    Lease sometimes = other.permits("sometimes", 1).acquire()) {
                assertThat(work.skipped()).isEmpty();
                assertThat(work.replaced("x")).isEqualTo("instead of x");
                assertThat(work.handled()).isEqualTo("handled [busy]");
                assertThat(work.sometimes(false)).isEqualTo("ran");
                assertThatThrownBy(() -> work.sometimes(true)).isInstanceOf(LockTimeoutException.class);
                assertThat(held.isValid() && sometimes.isValid()).isTrue();
            }
            assertThat(work.skipped()).contains("ran");
        });
    }

    @Test
    void the_lease_of_the_permits_is_there_as_a_parameter() {
        run("parameter", (work, other) -> {
            assertThat(work.lease(null)).isFalse();
            assertThat(work.leases(null)).isEqualTo("lease");
        });
    }

    @Test
    void a_nested_call_counts_once_and_may_not_want_more_than_its_caller_has() {
        run("nested", (work, other) -> {
            assertThat(work.nests("same")).isEqualTo("same");
            assertThat(work.nests("template")).isEqualTo("template");
            assertThat(work.nests("lock")).isEqualTo("lock");
            assertThatThrownBy(() -> work.nests("more"))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("A nested call wants 3 permits of \"outer\", and its caller holds 2");
            assertThat(other.permits("outer", 3).weight(3).tryAcquire()).isPresent();
        });
    }

    @Test
    void the_lock_of_a_method_is_outside_of_its_permits() {
        run("both", (work, other) -> {
            CompletableFuture<String> call;
            try (Lease lock = other.acquire("both")) {
                call = CompletableFuture.supplyAsync(() -> work.both(null, () -> "ran"));
                await().until(() -> other.inspect("both").waitingClients() > 0);
                // A caller that waits for the lock takes no permit away.
                assertThat(other.permits("both", 1).tryAcquire().map(permit -> {
                            permit.release();
                            return lock.isValid();
                        }))
                        .contains(true);
            }
            assertThat(call.get(30, TimeUnit.SECONDS)).isEqualTo("ran");
            try (Lease permit = other.permits("both", 1).acquire()) {
                assertThatThrownBy(() -> work.both(null, () -> "never")).hasMessageContaining("(limit 1, weight 1)");
                assertThat(other.inspect("both").isLocked()).isFalse();
                assertThat(permit.isValid()).isTrue();
            }
            work.<Void>both(null, () -> {
                assertThat(other.inspect("both").isLocked()).isTrue();
                assertThat(other.permits("both", 1).tryAcquire()).isEmpty();
                return null;
            });
        });
    }

    @Test
    void a_lost_permit_is_an_exception_after_the_method() {
        run("lost", (work, other) -> {
            StoreContext context = new StoreContext("force", TimeSource.system());
            try (LockStore store = new MemoryLockStoreProvider().open(URI.create("memory:limited-lost"), context)) {
                LockStore pools = store.pools().orElseThrow();
                assertThatThrownBy(() -> work.isLost(() -> pools.forceRelease("p:held", null)
                                .toCompletableFuture()
                                .join()))
                        .isInstanceOf(LeaseLostException.class)
                        .hasMessageContaining("held");
            }
        });
    }

    /** Receives another client on the same store. */
    @FunctionalInterface
    private interface Body {
        void accept(Work work, LockClient other) throws Exception;
    }

    private static void run(String store, Body test) {
        Contexts.memory("limited-" + store)
                .withUserConfiguration(Application.class)
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    try (LockClient other = LockClient.connect("memory:limited-" + store)) {
                        test.accept(context.getBean(Work.class), other);
                    }
                });
    }
}
