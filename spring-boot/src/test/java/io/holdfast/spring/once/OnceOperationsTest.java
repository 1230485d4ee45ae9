package io.holdfast.spring.once;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockTimeoutException;
import io.holdfast.OnceConflictException;
import io.holdfast.jdbc.JdbcOnce;
import io.holdfast.jdbc.OncePurge;
import io.holdfast.spring.Idempotent;
import io.holdfast.spring.LogLines;
import io.holdfast.spring.boot.HoldfastIdempotentAutoConfiguration;
import io.holdfast.spring.boot.HoldfastMetricsAutoConfiguration;
import io.holdfast.spring.declaration.LockedMethods;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.AbstractDataSource;

/** What operators see of idempotent methods, and what removes the keys. */
class OnceOperationsTest {

    public static class Payments {

        private final JdbcTemplate jdbc;

        Payments(JdbcTemplate jdbc) {
            this.jdbc = jdbc;
        }

        @Idempotent(name = "pay", key = "#id", waitTime = "0", keepFor = "1s")
        public int pay(String id, int amount) {
            if (amount < 0) {
                throw new IllegalArgumentException("no");
            }
            return jdbc.update("INSERT INTO effects VALUES (?)", id);
        }

        @Idempotent(name = "refund", key = "#id")
        public int refund(String id) {
            return jdbc.update("INSERT INTO effects VALUES (?)", id);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class LazyPayments {

        @Bean
        @Lazy
        Payments payments(JdbcTemplate jdbc) {
            return new Payments(jdbc);
        }
    }

    private final String id = UUID.randomUUID().toString();

    private ApplicationContextRunner context() {
        return OnceContexts.h2("operations" + id)
                .withConfiguration(AutoConfigurations.of(HoldfastIdempotentAutoConfiguration.class))
                .withBean(Payments.class);
    }

    @Test
    void each_end_of_a_call_is_counted() {
        context()
                .withConfiguration(AutoConfigurations.of(HoldfastMetricsAutoConfiguration.class))
                .withBean(MeterRegistry.class, SimpleMeterRegistry::new)
                .run(started -> {
                    Payments payments = started.getBean(Payments.class);
                    payments.pay(id, 1);
                    payments.pay(id, 1);
                    payments.pay(id, 1);
                    assertThatThrownBy(() -> payments.pay(id, 2)).isInstanceOf(OnceConflictException.class);
                    assertThatThrownBy(() -> payments.pay("bad", -1)).hasMessage("no");
                    try (LockClient other = LockClient.connect("memory:operations" + id);
                            Lease held = other.acquire("pay:" + id)) {
                        assertThatThrownBy(() -> payments.pay(id, 1)).isInstanceOf(LockTimeoutException.class);
                        assertThat(held.isValid()).isTrue();
                    }
                    MeterRegistry meters = started.getBean(MeterRegistry.class);
                    assertThat(List.of("done", "repeated", "conflict", "busy", "failed"))
                            .map(outcome -> meters.get("holdfast.once")
                                    .tags("name", "pay", "outcome", outcome)
                                    .counter()
                                    .count())
                            .containsExactly(1.0, 2.0, 1.0, 1.0, 1.0);
                });
    }

    @Test
    void idempotent_methods_are_not_counted_as_locked_ones() {
        context()
                .run(started -> assertThat(started.getBean(LockedMethods.class).describeCount())
                        .isEqualTo("0 locked methods, 2 idempotent methods"));
    }

    /** A lazy bean is not there when the purge could begin. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void keys_that_were_kept_for_long_enough_are_purged(boolean isLazy) {
        ApplicationContextRunner context = OnceContexts.h2("operations" + id)
                .withConfiguration(AutoConfigurations.of(HoldfastIdempotentAutoConfiguration.class));
        context = isLazy ? context.withUserConfiguration(LazyPayments.class) : context.withBean(Payments.class);
        context.withPropertyValues("holdfast.idempotent.purge-every=1s").run(started -> {
            Payments payments = started.getBean(Payments.class);
            payments.pay(id, 1);
            payments.refund(id);
            JdbcTemplate jdbc = started.getBean(JdbcTemplate.class);
            await().atMost(Duration.ofMinutes(1))
                    .untilAsserted(() -> assertThat(jdbc.queryForList("SELECT name FROM holdfast_once", String.class))
                            .containsExactly("refund:" + id));
        });
    }

    /** Another instance has the lock, so this one skips its turns; then it is its turn. */
    @Test
    void one_instance_purges() {
        context().withPropertyValues("holdfast.idempotent.purge-every=1s").run(started -> {
            JdbcTemplate jdbc = started.getBean(JdbcTemplate.class);
            try (LockClient other = LockClient.connect("memory:operations" + id);
                    Lease held = other.acquire("holdfast-once-purge")) {
                started.getBean(Payments.class).pay(id, 1);
                TimeUnit.SECONDS.sleep(3);
                assertThat(held.isValid()).isTrue();
                assertThat(keys(jdbc)).isEqualTo(1);
            }
            await().atMost(Duration.ofMinutes(1)).until(() -> keys(jdbc) == 0);
        });
    }

    private static int keys(JdbcTemplate jdbc) {
        return jdbc.queryForObject("SELECT COUNT(*) FROM holdfast_once", Integer.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"999ms", "-1s"})
    void a_time_between_purges_that_cannot_be_meant(String every) {
        context()
                .withPropertyValues("holdfast.idempotent.purge-every=" + every)
                .run(started -> assertThat(started)
                        .getFailure()
                        .rootCause()
                        .hasMessageStartingWith("holdfast.idempotent.purge-every: ")
                        .hasMessageContaining("(expected: at least 1 s, or 0 for never)"));
    }

    /** A database that is away is waited for at each question. */
    @Test
    void the_table_is_looked_for_once_for_all_methods() {
        AtomicInteger connections = new AtomicInteger();
        JdbcDataSource source = new JdbcDataSource();
        source.setURL("jdbc:h2:mem:probes" + id + ";DB_CLOSE_DELAY=-1");
        new JdbcTemplate(source).execute((ConnectionCallback<?>) connection -> {
            JdbcOnce.defaults().createTable(connection);
            return null;
        });
        DataSource counting = new AbstractDataSource() {
            @Override
            public java.sql.Connection getConnection() throws java.sql.SQLException {
                connections.incrementAndGet();
                return source.getConnection();
            }

            @Override
            public java.sql.Connection getConnection(String user, String password) {
                throw new UnsupportedOperationException();
            }
        };
        OnceContexts.json(io.holdfast.spring.boot.Contexts.memory("probes" + id))
                .withBean(DataSource.class, () -> counting)
                .withUserConfiguration(OnceContexts.Transactions.class)
                .withBean(Payments.class)
                .run(started -> {
                    assertThat(started).hasNotFailed();
                    assertThat(connections).hasValue(1);
                });
    }

    @Test
    void a_purge_that_fails_is_said_and_tried_again() {
        try (LogLines log = new LogLines(OncePurge.class)) {
            context().withPropertyValues("holdfast.idempotent.purge-every=1s").run(started -> {
                JdbcTemplate jdbc = started.getBean(JdbcTemplate.class);
                started.getBean(Payments.class).pay(id, 1);
                jdbc.execute("ALTER TABLE holdfast_once RENAME TO away");
                await().atMost(Duration.ofMinutes(1))
                        .untilAsserted(() -> assertThat(log.lines())
                                .anyMatch(line ->
                                        line.startsWith("WARNING The keys of idempotent methods could not be purged,"
                                                + " and the next try is in 1 s: ")));
                jdbc.execute("ALTER TABLE away RENAME TO holdfast_once");
                await().atMost(Duration.ofMinutes(1)).until(() -> keys(jdbc) == 0);
            });
        }
    }
}
