package io.holdfast.cdi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.LocalLock;
import io.holdfast.LockClient;
import io.holdfast.LockTimeoutException;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.inject.se.SeContainer;
import jakarta.inject.Inject;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** What a call of a locked method holds while it runs, and what it does when others hold it. */
class LockedTest {

    public record Customer(String id) {}

    public static class Order {

        private final Customer customer = new Customer("c7");

        public Customer getCustomer() {
            return customer;
        }

        public boolean isUrgent() {
            return true;
        }
    }

    /** The names that a client holds now. */
    static List<String> held(LockClient client) {
        return client.localLocks().stream()
                .filter(lock -> lock.lease().isPresent())
                .map(LocalLock::name)
                .toList();
    }

    @ApplicationScoped
    static class Work {

        @Inject
        LockClient client;

        @Inject
        Nested nested;

        @Locked("plain")
        List<String> plain() {
            return held(client);
        }

        @Locked(name = "order.refund", key = "{0}")
        List<String> byIndex(long orderId) {
            return held(client);
        }

        @Locked(name = "order.refund", key = "{orderId}:{site}")
        List<String> byNames(long orderId, String site) {
            return held(client);
        }

        @Locked(name = "order", key = "eu:{0.customer.id}:{0.urgent}")
        List<String> byPath(Order order) {
            return held(client);
        }

        @Locked(name = "any", key = "{key}")
        List<String> any(Object key) {
            return held(client);
        }

        @Locked(name = "busy", waitTime = "0", onBusy = OnBusy.SKIP)
        Optional<String> skipped() {
            return Optional.of("ran");
        }

        @Locked(name = "busy", waitTime = "0", onBusy = OnBusy.SKIP)
        List<String> skippedToNull() {
            return List.of();
        }

        @Locked(name = "busy", waitTime = "50ms")
        List<String> thrown() {
            return held(client);
        }

        @Locked(name = "busy", waitTime = "unlimited")
        void uninterested() {}

        @Locked(name = "busy", waitTime = "unlimited")
        void interruptible() throws InterruptedException {}

        @Locked(name = "token", leaseTime = "5s")
        Duration token(String arg, Lease lease) {
            assertThat(lease.fencingToken()).isPositive();
            return lease.remaining();
        }

        @Locked("outer")
        List<String> nests() {
            return nested.again();
        }

        @Locked("outer")
        List<String> nestsUnderLost() {
            lose("outer");
            return nested.again();
        }

        @Locked(name = "kept", holdAtLeast = "30s")
        void kept() {}

        @Locked("fails")
        void fails() throws IOException {
            throw new IOException("its own");
        }

        @Locked("lost")
        String lost() {
            lose("lost");
            return "a result";
        }

        @Locked("lost")
        String failsUnderLost() {
            lose("lost");
            throw new IllegalStateException("its own");
        }

        /** The engine has not found out yet: the release does. */
        @Locked(name = "late", leaseTime = "30s")
        String foundAtTheRelease() {
            assertThat(client.forceRelease("late")).isTrue();
            return "a result";
        }

        /** As one that hangs. */
        @Locked(name = "hangs", holdAtMost = "200ms")
        String hangs() {
            await().until(() -> held(client).isEmpty());
            return "a result";
        }

        private void lose(String name) {
            assertThat(client.forceRelease(name)).isTrue();
            await().until(() -> held(client).isEmpty());
        }
    }

    @ApplicationScoped
    @Locked("class")
    static class Nested {

        @Inject
        LockClient client;

        @Locked("outer")
        List<String> again() {
            return byClass();
        }

        List<String> byClass() {
            return held(client);
        }
    }

    @Test
    void the_name_and_the_key_make_the_lock_name() {
        run("names", (work, client) -> {
            assertThat(work.plain()).containsExactly("plain");
            assertThat(work.byIndex(42)).containsExactly("order.refund:42");
            assertThat(work.byNames(42, "de")).containsExactly("order.refund:42:de");
            assertThat(work.byPath(new Order())).containsExactly("order:eu:c7:true");
            assertThat(work.any(Optional.of(5L))).containsExactly("any:5");
        });
    }

    @Test
    void a_key_that_does_not_tell_calls_apart_is_an_error_and_nothing_runs() {
        class Nameless {}
        run("nameless", (work, client) -> {
            assertUnfit(() -> work.any(null), "{key} is null");
            assertUnfit(() -> work.any(" "), "{key} is empty");
            assertUnfit(() -> work.any(Optional.empty()), "{key} is null");
            assertUnfit(() -> work.byPath(null), "{0.customer.id} is null");
            assertUnfit(() -> work.any(List.of(1)), "{key} has several elements (expected: one value)");
            assertUnfit(() -> work.any(Map.of("a", 1, "b", 2)), "{key} has several elements");
            assertUnfit(() -> work.any(new long[1]), "{key} has several elements");
            assertUnfit(() -> work.any(new Nameless()), "which has no toString() of its own");
        });
    }

    private static void assertUnfit(Runnable call, String why) {
        assertThatThrownBy(call::run)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("@Locked on " + Work.class.getName())
                .hasMessageContaining(why);
    }

    @Test
    void a_busy_lock_is_thrown_or_skipped_and_an_interrupt_ends_the_wait() {
        run("busy", (work, client) -> {
            assertThat(work.skipped()).contains("ran");
            try (LockClient other = LockClient.connect("memory:busy");
                    Lease held = other.tryAcquire("busy").orElseThrow()) {
                assertThatThrownBy(work::thrown)
                        .isInstanceOf(LockTimeoutException.class)
                        .hasMessageContaining("\"busy\"")
                        .hasMessageContaining("50 ms");
                assertThat(work.skipped()).isEmpty();
                assertThat(work.skippedToNull()).isNull();
                Thread.currentThread().interrupt();
                assertThatThrownBy(work::uninterested).isInstanceOf(CancellationException.class);
                assertThat(Thread.interrupted()).isTrue();
                Thread.currentThread().interrupt();
                assertThatThrownBy(work::interruptible).isInstanceOf(InterruptedException.class);
                assertThat(Thread.interrupted()).isFalse();
                assertThat(held.isValid()).isTrue();
            }
            assertThat(work.thrown()).containsExactly("busy");
        });
    }

    @Test
    void the_lease_is_there_as_a_parameter() {
        run(
                "parameter",
                (work, client) ->
                        assertThat(work.token("x", null)).isPositive().isLessThanOrEqualTo(Duration.ofSeconds(5)));
    }

    @Test
    void a_nested_call_needs_no_lock_that_its_caller_holds() {
        run("reentrant", (work, client) -> assertThat(work.nests()).containsExactly("outer"));
    }

    @Test
    void a_nested_call_does_not_begin_under_a_lost_lease() {
        run(
                "nested-lost",
                (work, client) -> assertThatThrownBy(work::nestsUnderLost).isInstanceOf(LeaseLostException.class));
    }

    @Test
    void a_lock_stays_for_as_long_as_the_method_says_and_no_thread_waits() {
        run("kept", (work, client) -> {
            work.kept();
            assertThat(held(client)).isEmpty();
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
        run(
                "failing",
                (work, client) -> assertThatThrownBy(work::fails)
                        .isInstanceOf(IOException.class)
                        .hasMessage("its own"));
    }

    @Test
    void after_a_loss_the_result_is_dropped_and_the_loss_is_thrown() {
        run("loss", (work, client) -> {
            assertThatThrownBy(work::lost).isInstanceOf(LeaseLostException.class);
            assertThatThrownBy(work::foundAtTheRelease).isInstanceOf(LeaseLostException.class);
            assertThatThrownBy(work::hangs).isInstanceOf(LeaseLostException.class);
            assertThatThrownBy(work::failsUnderLost)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage("its own")
                    .satisfies(e -> assertThat(e.getSuppressed()).hasExactlyElementsOfTypes(LeaseLostException.class));
        });
    }

    @Test
    void the_client_is_closed_with_the_container() {
        LockClient[] used = new LockClient[1];
        Consumer<LockClient> keep = client -> used[0] = client;
        run("closed", (work, client) -> keep.accept(client));
        assertThat(used[0].toString()).contains("closed");
    }

    private static void run(String store, BiConsumer<Work, LockClient> test) {
        try (SeContainer container = Containers.start("memory:" + store, Work.class, Nested.class)) {
            LockClient client = container.select(LockClient.class).get();
            test.accept(container.select(Work.class).get(), client);
            assertThat(client.localLocks()).isEmpty();
        }
    }
}
