package io.holdfast.spring.once;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LocalLock;
import io.holdfast.LockClient;
import io.holdfast.jdbc.JdbcOnce;
import io.holdfast.spring.Idempotent;
import io.holdfast.spring.Locked;
import io.holdfast.spring.OnceRecord;
import io.holdfast.spring.ScheduledLock;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.transaction.annotation.Transactional;
import reactor.core.publisher.Mono;

/** Runs the code of README and of docs/idempotent.md, docs/spring.md and docs/guard.md for Spring and a database. */
@Timeout(60)
class OncePagesTest {

    public record Callback(String paymentId, long orderId) {}

    public record Receipt(String id) {}

    private static final Callback CALLBACK = new Callback("17", 42);

    /** README. */
    public static class Shop {

        final List<String> done = new ArrayList<>();
        final LockClient client;

        Shop(LockClient client) {
            this.client = client;
        }

        private List<String> held() {
            return client.localLocks().stream().map(LocalLock::name).toList();
        }

        public List<String> done() {
            return done;
        }

        @Locked(name = "order.refund", key = "#orderId", waitTime = "10s")
        public void refund(long orderId) {
            done.addAll(held());
        }

        @Scheduled(cron = "0 0 3 * * *")
        @ScheduledLock(name = "nightly", atLeast = "1m")
        public void nightly() {
            done.addAll(held());
        }

        @Idempotent(name = "payment", key = "#id")
        public Receipt settle(String id) {
            done.add("settled");
            return new Receipt(id);
        }
    }

    @Test
    void the_first_screen() {
        OnceContexts.json(OnceContexts.h2("once-readme")).withBean(Shop.class).run(context -> {
            Shop shop = context.getBean(Shop.class);
            shop.refund(42);
            shop.nightly();
            shop.nightly();
            assertThat(shop.settle("17")).isEqualTo(shop.settle("17")).isEqualTo(new Receipt("17"));
            assertThat(shop.done()).containsExactly("order.refund:42", "nightly", "settled");
        });
    }

    public static class Orders {

        final List<Long> paid = new ArrayList<>();

        public void markPaid(long order) {
            paid.add(order);
        }

        public List<Long> paid() {
            return paid;
        }
    }

    /** In the database. */
    public static class Callbacks {

        final Orders orders;

        Callbacks(Orders orders) {
            this.orders = orders;
        }

        @Idempotent(name = "payment.callback", key = "#callback.paymentId", keepFor = "30d")
        public Receipt settle(Callback callback) {
            orders.markPaid(callback.orderId());
            return new Receipt(callback.paymentId());
        }
    }

    /** In the store of the locks. */
    public static class ReactiveCallbacks {

        final Orders orders;

        ReactiveCallbacks(Orders orders) {
            this.orders = orders;
        }

        @Idempotent(name = "payment.callback", key = "#callback.paymentId", record = OnceRecord.STORE_AT_LEAST_ONCE)
        public Mono<Receipt> settle(Callback callback) {
            return Mono.fromSupplier(() -> {
                orders.markPaid(callback.orderId());
                return new Receipt(callback.paymentId());
            });
        }
    }

    @Test
    void a_callback_that_arrives_twice() {
        OnceContexts.json(OnceContexts.h2("once-callback"))
                .withBean(Orders.class)
                .withBean(Callbacks.class)
                .withBean(ReactiveCallbacks.class)
                .run(context -> {
                    Orders orders = context.getBean(Orders.class);
                    Callbacks callbacks = context.getBean(Callbacks.class);
                    assertThat(Stream.of(CALLBACK, CALLBACK).map(callbacks::settle))
                            .containsOnly(new Receipt("17"));
                    assertThat(orders.paid()).containsExactly(42L);
                    ReactiveCallbacks reactive = context.getBean(ReactiveCallbacks.class);
                    assertThat(Stream.of(CALLBACK, CALLBACK)
                                    .map(callback -> reactive.settle(callback).block()))
                            .containsOnly(new Receipt("17"));
                    assertThat(orders.paid()).containsExactly(42L, 42L);
                });
    }

    static final class Refunds {

        private int executed;

        String execute(Connection connection, long order, long amount) throws java.sql.SQLException {
            assertThat(connection.getAutoCommit()).isFalse();
            return ++executed + ". refund, of " + amount + " for order " + order;
        }
    }

    public static class Guarded {

        final JdbcTemplate jdbc;
        final Refunds refunds = new Refunds();

        Guarded(JdbcTemplate jdbc) {
            this.jdbc = jdbc;
        }

        @Locked(name = "order.refund", key = "#orderId")
        @Transactional
        public String refund(long orderId, long amount) {
            return jdbc.execute((ConnectionCallback<String>) connection -> JdbcOnce.defaults()
                    .run(
                            connection,
                            "refund:" + orderId,
                            "amount=" + amount,
                            c -> refunds.execute(c, orderId, amount)));
        }
    }

    @Test
    void by_hand_in_the_transaction_of_spring() {
        OnceContexts.h2("once-guard").withBean(Guarded.class).run(context -> {
            Guarded guarded = context.getBean(Guarded.class);
            for (int request = 0; request < 2; request++) {
                assertThat(guarded.refund(42, 100)).isEqualTo("1. refund, of 100 for order 42");
            }
        });
    }
}
