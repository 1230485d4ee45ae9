package io.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockTimeoutException;
import io.holdfast.spring.boot.Contexts;
import io.holdfast.spring.declaration.LockedDefinitionException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import reactor.core.publisher.Mono;

/** Locked methods that read and write: many readers or one writer, over all clients. */
class LockModeTest {

    public static class Catalog {

        @Locked(name = "catalog", key = "#id", mode = LockMode.READ, waitTime = "50ms")
        public <T> T read(int id, Supplier<T> work) {
            return work.get();
        }

        @Locked(name = "catalog", key = "#id", mode = LockMode.WRITE, waitTime = "50ms")
        public <T> T write(int id, Supplier<T> work) {
            return work.get();
        }

        @Locked(name = "catalog", key = "#id", waitTime = "0")
        public String exclusive(int id) {
            return "ran";
        }

        @Locked(name = "catalog", mode = LockMode.READ)
        public boolean fences(@Nullable Lease lease) {
            lease.ensureValid();
            return lease.isExclusive();
        }

        @Locked(name = "any", key = "#ids", mode = LockMode.READ)
        public String any(List<Integer> ids) {
            return "ran";
        }

        @Locked(name = "catalog", key = "#id", mode = LockMode.READ, waitTime = "0")
        public CompletableFuture<String> stage(int id, CompletableFuture<String> work) {
            return work;
        }

        @Locked(name = "catalog", key = "#id", mode = LockMode.WRITE, waitTime = "0")
        public Mono<String> mono(int id, CompletableFuture<String> work) {
            return Mono.fromFuture(work);
        }
    }

    /** Calls by the proxy, one inside of another. */
    public static class Nests {

        private final Catalog catalog;

        Nests(Catalog catalog) {
            this.catalog = catalog;
        }

        @Locked(name = "catalog:1", mode = LockMode.WRITE)
        public String readsWhileItWrites() {
            return catalog.read(1, () -> catalog.read(1, () -> "read"));
        }

        @Locked(name = "catalog:1", mode = LockMode.READ)
        public String writesWhileItReads() {
            return catalog.write(1, () -> "wrote");
        }

        @Locked(name = "catalog:1", mode = LockMode.READ)
        public String locksWhileItReads() {
            return catalog.exclusive(1);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Application {

        @Bean
        Catalog catalog() {
            return new Catalog();
        }

        @Bean
        Nests nests(Catalog catalog) {
            return new Nests(catalog);
        }
    }

    @Test
    void many_read_or_one_writes() {
        run("modes", (catalog, nests, other) -> {
            try (Lease reader = other.acquireRead("catalog:1")) {
                assertThat(catalog.<String>read(1, () -> "read")).isEqualTo("read");
                assertThatThrownBy(() -> catalog.write(1, () -> "never")).isInstanceOf(LockTimeoutException.class);
                assertThat(catalog.<String>write(2, () -> "wrote")).isEqualTo("wrote");
                // The lock of the name is another thing.
                assertThat(catalog.exclusive(1)).isEqualTo("ran");
                assertThat(reader.isValid()).isTrue();
            }
            try (Lease writer = other.acquireWrite("catalog:1")) {
                assertThatThrownBy(() -> catalog.read(1, () -> "never")).isInstanceOf(LockTimeoutException.class);
                assertThatThrownBy(() -> catalog.write(1, () -> "never")).isInstanceOf(LockTimeoutException.class);
                assertThat(writer.isValid()).isTrue();
            }
            catalog.<Void>write(1, () -> {
                assertThat(other.tryAcquireRead("catalog:1")).isEmpty();
                return null;
            });
            catalog.<Void>read(1, () -> {
                assertThat(other.tryAcquireWrite("catalog:1")).isEmpty();
                return null;
            });
            assertThat(catalog.fences(null)).isFalse();
        });
    }

    @Test
    void a_nested_call_reads_under_a_write_and_never_writes_under_a_read() {
        run("nested", (catalog, nests, other) -> {
            assertThat(nests.readsWhileItWrites()).isEqualTo("read");
            assertThat(nests.locksWhileItReads()).isEqualTo("ran");
            assertThatThrownBy(nests::writesWhileItReads)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("A nested call wants to write \"catalog:1\", and its caller reads it");
            assertThat(other.tryAcquireWrite("catalog:1")).isPresent();
        });
    }

    @Test
    void stages_and_publishers_read_and_write_until_they_end() {
        run("async", (catalog, nests, other) -> {
            CompletableFuture<String> ends = new CompletableFuture<>();
            CompletableFuture<String> reading = catalog.stage(1, ends);
            await().until(() -> !wasFree(other.tryAcquireWrite("catalog:1")));
            assertThatThrownBy(() -> catalog.mono(1, ends).block()).isInstanceOf(LockTimeoutException.class);
            ends.complete("done");
            assertThat(reading.get(30, TimeUnit.SECONDS)).isEqualTo("done");
            CompletableFuture<String> later = new CompletableFuture<>();
            CompletableFuture<String> writing = catalog.mono(1, later).toFuture();
            await().until(() -> !wasFree(other.tryAcquireRead("catalog:1")));
            later.complete("done");
            assertThat(writing.get(30, TimeUnit.SECONDS)).isEqualTo("done");
            assertThat(other.tryAcquireRead("catalog:1")).isPresent();
        });
    }

    @Test
    void a_call_reads_one_name() {
        run(
                "one",
                (catalog, nests, other) -> assertThatThrownBy(() -> catalog.any(List.of(1, 2)))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("read-write locks of 2 names (expected: one name"));
    }

    static class SeveralKeys {
        @Locked(
                name = "x",
                key = {"#p0", "#p1"},
                mode = LockMode.READ)
        public void method(int a, int b) {}
    }

    static class SeveralNames {
        @Locked(name = "x", mode = LockMode.WRITE)
        @Locked(name = "y", mode = LockMode.WRITE)
        public void method() {}
    }

    static class SeveralModes {
        @Locked(name = "x", mode = LockMode.READ)
        @Locked(name = "y")
        public void method() {}
    }

    @ParameterizedTest
    @ValueSource(classes = {SeveralKeys.class, SeveralNames.class, SeveralModes.class})
    void several_names_or_modes_stop_the_start(Class<?> type) {
        Contexts.memory("start")
                .withBean(type)
                .run(
                        context -> assertThat(context)
                                .getFailure()
                                .rootCause()
                                .isInstanceOf(LockedDefinitionException.class)
                                .hasMessageMatching(
                                        "@Locked on .*method\\(.*(mode = (READ|WRITE), but several names|differ in more than).*"));
    }

    private static boolean wasFree(Optional<Lease> lease) {
        lease.ifPresent(Lease::release);
        return lease.isPresent();
    }

    /** Receives another client on the same store. */
    @FunctionalInterface
    private interface Body {
        void accept(Catalog catalog, Nests nests, LockClient other) throws Exception;
    }

    private static void run(String store, Body test) {
        Contexts.memory("mode-" + store)
                .withUserConfiguration(Application.class)
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    try (LockClient other = LockClient.connect("memory:mode-" + store)) {
                        test.accept(context.getBean(Catalog.class), context.getBean(Nests.class), other);
                    }
                });
    }
}
