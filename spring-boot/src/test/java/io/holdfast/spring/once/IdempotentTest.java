package io.holdfast.spring.once;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Lease;
import io.holdfast.LockTimeoutException;
import io.holdfast.OnceConflictException;
import io.holdfast.spring.Idempotent;
import io.holdfast.spring.Locked;
import java.io.IOException;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** What a second call receives, and that the key is committed with the effects or not at all. */
class IdempotentTest {

    record Line(String item, BigDecimal price) {}

    record Receipt(int number, Instant at, List<Line> lines) {}

    record Payment(String id, BigDecimal amount, Map<String, String> notes) {}

    /** How many more callers must come before a slow call ends. */
    private static final Map<String, CountDownLatch> GATES = new ConcurrentHashMap<>();

    public static class Payments {

        final AtomicInteger runs = new AtomicInteger();
        final JdbcTemplate jdbc;

        Payments(JdbcTemplate jdbc) {
            this.jdbc = jdbc;
        }

        int effect(String id) {
            jdbc.update("INSERT INTO effects VALUES (?)", id);
            return runs.incrementAndGet();
        }

        @Idempotent(name = "pay", key = "#payment.id", keepFor = "30d")
        public Receipt pay(Payment payment) {
            return new Receipt(
                    effect(payment.id()),
                    Instant.parse("2026-11-27T06:00:00.123Z"),
                    List.of(new Line("tea", payment.amount())));
        }

        @Idempotent(name = "list", key = "#id")
        @Transactional
        public List<Line> list(String id) {
            return List.of(new Line("tea " + effect(id), BigDecimal.ONE));
        }

        @Idempotent(name = "nothing", key = "#id")
        public void nothing(String id) {
            effect(id);
        }

        @Idempotent(name = "null", key = "#id")
        public @Nullable Receipt none(String id) {
            effect(id);
            return null;
        }

        @Idempotent(name = "optional", key = "#id")
        public Optional<Line> optional(String id, boolean present) {
            return present ? Optional.of(new Line("tea " + effect(id), BigDecimal.TEN)) : Optional.empty();
        }

        @Idempotent(name = "number", key = "#id", fingerprint = "#amount")
        public int number(String id, int amount, String unimportant) {
            return effect(id);
        }

        @Idempotent(name = "fails", key = "#id")
        public int fails(String id) throws IOException {
            if (effect(id) < 3) {
                throw new IOException("the bank is closed");
            }
            return runs.get();
        }

        @Idempotent(name = "unstorable", key = "#id")
        public Object unstorable(String id) {
            effect(id);
            return new Object() {
                @SuppressWarnings({"unused", "EffectivelyPrivate"}) // Jackson reads public getters
                public String getBroken() {
                    throw new UnsupportedOperationException("no");
                }
            };
        }

        @Idempotent(name = "slow", key = "#id", waitTime = "0")
        public int slow(String id) throws InterruptedException {
            int number = effect(id);
            GATES.get(id).countDown();
            assertThat(GATES.get(id).await(30, TimeUnit.SECONDS)).isTrue();
            return number;
        }

        @Idempotent(name = "waits", key = "#id")
        public int waits(String id) throws InterruptedException {
            Thread.sleep(50);
            return effect(id);
        }

        @Locked(name = "both", key = "#id")
        @Idempotent(name = "both", key = "#id")
        public long both(String id, @Nullable Lease lease) {
            effect(id);
            return lease.fencingToken();
        }

        @Idempotent(name = "self", key = "#id", fingerprint = "''")
        public int self(String id, ApplicationContext context) {
            return context.getBean(Payments.class).self(id, context);
        }
    }

    private final String id = UUID.randomUUID().toString();

    private ApplicationContextRunner context() {
        return OnceContexts.h2("once" + id).withBean(Payments.class);
    }

    private interface Body {
        void accept(Payments payments, JdbcTemplate jdbc, ApplicationContext context) throws Exception;
    }

    private void run(Body body) {
        context().run(started -> {
            Payments payments = started.getBean(Payments.class);
            body.accept(payments, started.getBean(JdbcTemplate.class), started);
        });
    }

    private int effects(JdbcTemplate jdbc) {
        return jdbc.queryForObject("SELECT COUNT(*) FROM effects WHERE id = ?", Integer.class, id);
    }

    @Test
    void a_second_call_returns_the_stored_result_of_any_type() {
        run((payments, jdbc, context) -> {
            Payment payment = new Payment(id, new BigDecimal("10.50"), Map.of());
            Receipt first = payments.pay(payment);
            assertThat(payments.pay(payment)).isEqualTo(first).isNotSameAs(first);
            assertThat(effects(jdbc)).isEqualTo(1);
            List<Line> lines = payments.list(id);
            assertThat(payments.list(id)).isEqualTo(lines).hasOnlyElementsOfType(Line.class);
            payments.nothing(id);
            payments.nothing(id);
            assertThat(payments.none(id)).isNull();
            assertThat(payments.none(id)).isNull();
            assertThat(payments.optional(id, true)).contains(new Line("tea 5", BigDecimal.TEN));
            assertThat(payments.optional(id, true)).contains(new Line("tea 5", BigDecimal.TEN));
            assertThat(payments.optional(id + 2, false)).isEmpty();
            assertThat(payments.optional(id + 2, false)).isEmpty();
            assertThat(payments.number(id, 7, "a")).isEqualTo(6);
            assertThat(payments.number(id, 7, "b")).isEqualTo(6);
            assertThat(payments.both(id, null)).isEqualTo(payments.both(id, null));
            assertThat(effects(jdbc)).isEqualTo(7);
            assertThat(jdbc.queryForObject(
                            "SELECT COUNT(*) FROM holdfast_once WHERE name = ? AND done = 1"
                                    + " AND keep_until > CURRENT_TIMESTAMP + INTERVAL '29' DAY",
                            Integer.class,
                            "pay:" + id))
                    .isEqualTo(1);
        });
    }

    @Test
    void the_same_key_with_other_arguments_is_an_error_and_runs_nothing() {
        run((payments, jdbc, context) -> {
            Map<String, String> notes = new LinkedHashMap<>(Map.of("a", "1"));
            notes.put("b", "2");
            Map<String, String> reversed = new LinkedHashMap<>(Map.of("b", "2"));
            reversed.put("a", "1");
            payments.pay(new Payment(id, BigDecimal.ONE, notes));
            payments.pay(new Payment(id, BigDecimal.ONE, reversed));
            assertThatThrownBy(() -> payments.pay(new Payment(id, BigDecimal.TEN, notes)))
                    .isInstanceOf(OnceConflictException.class)
                    .hasMessage("The key \"pay:" + id + "\" was used with another fingerprint (expected: the same"
                            + " fingerprint in every call with a key, or another key)");
            payments.number(id, 1, "");
            assertThatThrownBy(() -> payments.number(id, 2, "")).isInstanceOf(OnceConflictException.class);
            assertThat(effects(jdbc)).isEqualTo(2);
        });
    }

    @Test
    void a_method_that_fails_leaves_nothing_and_the_next_call_runs_it() {
        run((payments, jdbc, context) -> {
            for (int i = 0; i < 2; i++) {
                assertThatThrownBy(() -> payments.fails(id))
                        .isInstanceOf(IOException.class)
                        .hasMessage("the bank is closed")
                        .hasNoSuppressedExceptions();
                assertThat(effects(jdbc)).isZero();
            }
            assertThat(payments.fails(id)).isEqualTo(3);
            assertThat(payments.fails(id)).isEqualTo(3);
            assertThat(effects(jdbc)).isEqualTo(1);
        });
    }

    @Test
    void a_result_that_no_later_call_could_read_fails_the_first() {
        run((payments, jdbc, context) -> {
            assertThatThrownBy(() -> payments.unstorable(id))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContainingAll("@Idempotent on ", "unstorable", "cannot be stored as JSON");
            assertThat(effects(jdbc)).isZero();
        });
    }

    @Test
    void a_call_inside_a_transaction_counts_when_that_is_committed() {
        run((payments, jdbc, context) -> {
            TransactionTemplate outer = context.getBean(TransactionTemplate.class);
            outer.executeWithoutResult(status -> {
                payments.nothing(id);
                status.setRollbackOnly();
            });
            assertThat(effects(jdbc)).isZero();
            outer.executeWithoutResult(status -> payments.nothing(id));
            outer.executeWithoutResult(status -> payments.nothing(id));
            assertThat(effects(jdbc)).isEqualTo(1);
        });
    }

    @Test
    void a_call_while_the_first_runs_is_answered_at_once_or_waits() {
        run((payments, jdbc, context) -> {
            CountDownLatch gate = new CountDownLatch(2);
            GATES.put(id, gate);
            CompletableFuture<Integer> first = CompletableFuture.supplyAsync(() -> {
                try {
                    return payments.slow(id);
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            });
            for (int i = 0; i < 3000 && gate.getCount() == 2; i++) {
                Thread.sleep(10);
            }
            assertThatThrownBy(() -> payments.slow(id)).isInstanceOf(LockTimeoutException.class);
            gate.countDown();
            assertThat(first.get(30, TimeUnit.SECONDS)).isEqualTo(1);
            assertThat(payments.slow(id)).isEqualTo(1);

            List<CompletableFuture<Integer>> all = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                all.add(CompletableFuture.supplyAsync(() -> {
                    try {
                        return payments.waits(id);
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                }));
            }
            for (CompletableFuture<Integer> each : all) {
                assertThat(each.get(30, TimeUnit.SECONDS)).isEqualTo(2);
            }
            assertThat(effects(jdbc)).isEqualTo(2);
        });
    }

    /** A method that returns a publisher, a stage or a coroutine is refused, and these are the ways out. */
    @Test
    void publishers_and_stages_call_it_on_a_thread_that_may_wait() {
        run((payments, jdbc, context) -> {
            Mono<Integer> mono =
                    Mono.fromCallable(() -> payments.number(id, 7, "")).subscribeOn(Schedulers.boundedElastic());
            assertThat(Flux.merge(mono, mono).collectList().block(Duration.ofMinutes(1)))
                    .containsExactly(1, 1);
            assertThat(CompletableFuture.supplyAsync(() -> payments.number(id, 7, ""))
                            .get(60, TimeUnit.SECONDS))
                    .isEqualTo(1);
            assertThat(effects(jdbc)).isEqualTo(1);
        });
    }

    @Test
    void a_call_of_its_own_key_is_refused() {
        run((payments, jdbc, context) -> assertThatThrownBy(() -> payments.self(id, context))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("asks for its own key"));
    }
}
