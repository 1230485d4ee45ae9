package io.holdfast.cdi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockTimeoutException;
import io.holdfast.OnceConflictException;
import io.holdfast.jdbc.JdbcOnce;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.context.Dependent;
import jakarta.enterprise.inject.Produces;
import jakarta.enterprise.inject.se.SeContainer;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import jakarta.transaction.Status;
import jakarta.transaction.Synchronization;
import jakarta.transaction.Transactional;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Work that is done once for each key, with a transaction manager for one thread; samples/quarkus has the same with a
 * real one, and two processes.
 */
class IdempotentTest {

    record Receipt(String id, List<Integer> amounts) {}

    /** A DataSource whose connections take part in the transaction, if there is one. */
    @ApplicationScoped
    static class Database {

        private static String url = "";
        private static boolean joins = true;
        private static boolean commitsByItself = true;
        private static MeterRegistry meters = new SimpleMeterRegistry();

        @Inject
        OrderTest.Transactions transactions;

        @Produces
        @ApplicationScoped
        DataSource source() {
            JdbcDataSource plain = new JdbcDataSource();
            plain.setURL(url);
            return (DataSource) Proxy.newProxyInstance(
                    DataSource.class.getClassLoader(), new Class<?>[] {DataSource.class}, (proxy, method, args) -> {
                        if (!method.getName().equals("getConnection")) {
                            return method.invoke(plain, args);
                        }
                        Connection connection = plain.getConnection();
                        connection.setAutoCommit(commitsByItself);
                        return joins && transactions.getTransactionStatus() == Status.STATUS_ACTIVE
                                ? joined(connection)
                                : connection;
                    });
        }

        private Connection joined(Connection connection) throws SQLException {
            connection.setAutoCommit(false);
            transactions.registerInterposedSynchronization(new Synchronization() {
                @Override
                public void beforeCompletion() {}

                @Override
                public void afterCompletion(int status) {
                    try (connection) {
                        if (status == Status.STATUS_COMMITTED) {
                            connection.commit();
                        } else {
                            connection.rollback();
                        }
                    } catch (SQLException e) {
                        throw new IllegalStateException(e);
                    }
                }
            });
            return (Connection) Proxy.newProxyInstance(
                    Connection.class.getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, args) -> {
                        try {
                            return method.getName().equals("close") ? null : method.invoke(connection, args);
                        } catch (InvocationTargetException e) {
                            throw e.getCause();
                        }
                    });
        }

        @Produces
        @Singleton
        MeterRegistry meters() {
            return meters;
        }

        @Produces
        ObjectMapper mapper() {
            return new ObjectMapper();
        }
    }

    /** Has no interceptor here, as {@code SUPPORTS} begins no transaction. */
    @Transactional(Transactional.TxType.SUPPORTS)
    @Retention(RetentionPolicy.RUNTIME)
    @interface Supports {}

    @ApplicationScoped
    static class Payments {

        private static int runs;

        @Transactional
        @Idempotent(name = "payment", key = "{id}", waitTime = "0")
        @Nullable
        Receipt settle(String id, int amount) {
            runs++;
            if (amount < 0) {
                throw new IllegalStateException("refused by the bank");
            }
            return amount == 0 ? null : new Receipt(id, List.of(amount));
        }

        @Transactional
        @Idempotent(name = "text", key = "{0}", fingerprint = "{0}")
        Optional<String> text(String id, int attempt) {
            runs++;
            return Optional.of(id + " " + attempt);
        }

        @Transactional
        @Idempotent(name = "brief", key = "{0}", keepFor = "1s")
        void brief(String id) {
            runs++;
        }

        @Transactional
        @Idempotent(name = "several", key = "{0}")
        void several(String id, Set<Integer> set, Map<String, Integer> map, List<Object> list) {
            runs++;
        }

        @Supports
        @Idempotent(name = "payment", key = "{id}")
        void outside(String id) {
            runs++;
        }
    }

    /** Their order may differ between processes. */
    @Test
    void equal_sets_and_maps_are_equal_in_any_order() {
        Map<String, Integer> map = new LinkedHashMap<>(Map.of("a", 1));
        map.put("b", 2);
        Map<String, Integer> reversed = new LinkedHashMap<>(Map.of("b", 2));
        reversed.put("a", 1);
        run(payments -> {
            payments.several("d", new LinkedHashSet<>(List.of(1, 2)), map, List.of("c", 3));
            payments.several("d", new LinkedHashSet<>(List.of(2, 1)), reversed, List.of("c", 3));
            assertThat(Payments.runs).isEqualTo(1);
            assertThatThrownBy(() -> payments.several("d", Set.of(1, 2), map, List.of(3, "c")))
                    .isInstanceOf(OnceConflictException.class);
            assertThatThrownBy(() -> payments.several("e", Set.of(), map, List.of(new Object())))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("which has no toString() of its own");
        });
    }

    @Test
    void later_calls_receive_the_result_of_the_first() {
        run(payments -> {
            assertThat(payments.settle("a", 5)).isEqualTo(new Receipt("a", List.of(5)));
            assertThat(payments.settle("a", 5)).isEqualTo(new Receipt("a", List.of(5)));
            assertThat(payments.settle("b", 0)).isNull();
            assertThat(payments.settle("b", 0)).isNull();
            assertThat(payments.text("c", 1)).contains("c 1");
            assertThat(payments.text("c", 2)).contains("c 1");
            assertThat(Payments.runs).isEqualTo(3);
        });
    }

    @Test
    void other_work_with_the_key_is_refused() {
        run(payments -> {
            payments.settle("a", 5);
            assertThatThrownBy(() -> payments.settle("a", 6)).isInstanceOf(OnceConflictException.class);
            assertThat(Payments.runs).isEqualTo(1);
        });
    }

    @Test
    void a_failure_leaves_nothing() {
        run(payments -> {
            assertThatThrownBy(() -> payments.settle("a", -1)).hasMessage("refused by the bank");
            assertThat(keys()).isZero();
            assertThat(payments.settle("a", 5)).isNotNull();
            assertThat(keys()).isEqualTo(1);
        });
    }

    @Test
    void each_end_of_a_call_is_counted() {
        Database.meters = new SimpleMeterRegistry();
        run(payments -> {
            payments.settle("a", 5);
            payments.settle("a", 5);
            payments.settle("a", 5);
            assertThatThrownBy(() -> payments.settle("a", 6)).isInstanceOf(OnceConflictException.class);
            assertThatThrownBy(() -> payments.settle("b", -1)).hasMessage("refused by the bank");
            try (LockClient other = LockClient.connect("memory:once");
                    Lease held = other.tryAcquire("payment:c").orElseThrow()) {
                assertThatThrownBy(() -> payments.settle("c", 5)).isInstanceOf(LockTimeoutException.class);
                assertThat(held.isValid()).isTrue();
            }
        });
        assertThat(List.of("done", "repeated", "conflict", "failed", "busy"))
                .map(outcome -> Database.meters
                        .get("holdfast.once")
                        .tags("name", "payment", "outcome", outcome)
                        .counter()
                        .count())
                .containsExactly(1.0, 2.0, 1.0, 1.0, 1.0);
        assertThat(Database.meters
                        .get("holdfast.lock.acquire")
                        .tags("name", "payment", "kind", "lock", "outcome", "acquired")
                        .timer()
                        .count())
                .isEqualTo(5);
    }

    @Test
    void keys_that_were_kept_for_long_enough_are_purged() {
        System.setProperty("holdfast.idempotent.purge-every", "1s");
        try {
            run(payments -> {
                payments.settle("a", 5);
                payments.brief("b");
                await().atMost(Duration.ofMinutes(1)).until(() -> keys() == 1);
                payments.settle("a", 5);
                assertThat(Payments.runs).isEqualTo(2);
            });
        } finally {
            System.clearProperty("holdfast.idempotent.purge-every");
        }
    }

    @Test
    void a_time_between_purges_that_cannot_be_meant_fails_the_start() {
        System.setProperty("holdfast.idempotent.purge-every", "999ms");
        try {
            assertThatThrownBy(() -> run(payments -> {}))
                    .hasStackTraceContaining("holdfast.idempotent.purge-every: 999 ms (expected: at least 1 s, or 0");
        } finally {
            System.clearProperty("holdfast.idempotent.purge-every");
        }
    }

    @Test
    void a_call_without_a_transaction_is_refused() {
        run(payments -> {
            assertThatThrownBy(() -> payments.outside("a")).hasMessageContaining("there is no transaction");
            assertThat(Payments.runs).isZero();
        });
    }

    @Test
    void a_connection_that_does_not_take_part_is_refused() {
        Database.joins = false;
        try {
            run(payments -> {
                assertThatThrownBy(() -> payments.settle("a", 5))
                        .hasMessageContaining("the connection commits after each statement")
                        .hasMessageContaining("(expected: a DataSource that Jakarta Transactions manage)");
                assertThat(Payments.runs).isZero();
            });
        } finally {
            Database.joins = true;
        }
    }

    @Test
    void a_source_of_which_nobody_can_tell_whether_it_takes_part_fails_the_start() {
        Database.commitsByItself = false;
        try {
            assertThatThrownBy(() -> run(payments -> {}))
                    .hasStackTraceContaining("so nobody can tell whether they take part in one");
        } finally {
            Database.commitsByItself = true;
        }
    }

    @Test
    void a_table_that_is_missing_fails_the_start() {
        Database.url = "jdbc:h2:mem:no_table";
        assertThatThrownBy(IdempotentTest::start).hasStackTraceContaining("CREATE TABLE");
    }

    @Dependent
    static class NoTransaction {
        @Idempotent(name = "x", key = "{0}")
        void method(String id) {}
    }

    @Dependent
    static class NoKey {
        @Transactional
        @Idempotent(name = "x", key = "")
        void method(String id) {}
    }

    @Dependent
    static class Stage {
        @Transactional
        @Idempotent(name = "x", key = "{0}")
        @Nullable
        CompletionStage<String> method(String id) {
            return null;
        }
    }

    @Dependent
    static class ShortTime {
        @Transactional
        @Idempotent(name = "x", key = "{0}", keepFor = "10ms")
        void method(String id) {}
    }

    @Dependent
    static class Twice {
        @Transactional
        @Locked(name = "y")
        @Idempotent(name = "x", key = "{0}")
        void method(String id) {}
    }

    @Dependent
    static class Fine {
        @Transactional
        @Idempotent(name = "x", key = "{0}")
        void method(String id) {}
    }

    @Test
    void a_declaration_that_cannot_work_fails_the_start() {
        assertRefused(NoTransaction.class, "neither the method nor its class has @Transactional");
        assertRefused(NoKey.class, "it has no key");
        assertRefused(Stage.class, "a transaction belongs to one thread");
        assertRefused(ShortTime.class, "keepFor = \"10ms\" (expected: at least 1s, for example 7d)");
        assertRefused(Twice.class, "together with @");
        assertRefused(Fine.class, "the container has no transactions of Jakarta");
    }

    private static void assertRefused(Class<?> bean, String why) {
        assertThatThrownBy(() -> Containers.start("memory:unused", bean).close())
                .hasStackTraceContaining("@Idempotent")
                .hasStackTraceContaining(why);
    }

    private static SeContainer start() {
        return Containers.start(
                "memory:once",
                Database.class,
                Payments.class,
                OrderTest.Transactions.class,
                OrderTest.TransactionalInterceptor.class);
    }

    private static void run(Consumer<Payments> test) {
        Payments.runs = 0;
        Database.url = "jdbc:h2:mem:once";
        try (Connection keeps = DriverManager.getConnection(Database.url)) {
            JdbcOnce.defaults().createTable(keeps);
            try (SeContainer container = start()) {
                test.accept(container.select(Payments.class).get());
            }
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private static int keys() {
        try (Connection connection = DriverManager.getConnection(Database.url);
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT COUNT(*) FROM holdfast_once")) {
            assertThat(rows.next()).isTrue();
            return rows.getInt(1);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }
}
