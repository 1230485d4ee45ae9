package io.holdfast.spring.boot4;

import static java.util.Objects.requireNonNull;

import io.holdfast.spring.Idempotent;
import io.holdfast.spring.boot.HoldfastAutoConfiguration;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;
import javax.sql.DataSource;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import tools.jackson.databind.json.JsonMapper;

/**
 * Settles the payments that {@link KilledApplicationTest} names on its input, and says what it did on its output. A
 * line is a key and the number of the step at which the call stops for ever; -1 for none, -2 to say all steps.
 */
@Configuration(proxyBeanMethods = false)
@ImportAutoConfiguration(HoldfastAutoConfiguration.class)
public class KilledApplication {

    static final int NEVER = -1;
    static final int SAY_ALL = -2;

    /** A fault, as {@code test.fault}: the effect is committed before the key, in a transaction of its own. */
    static final String EFFECT_FIRST = "effect-first";

    /** A fault, as {@code test.fault}: the effect is committed after the key. */
    static final String KEY_FIRST = "key-first";

    private static final int CALLS_MAX = 20;

    /** The test reads it. */
    @SuppressWarnings("SystemOut")
    private static final PrintStream OUTPUT = System.out;

    static {
        // A logger may write to System.out, for example of a lease that a busy machine has lost.
        System.setOut(System.err);
    }

    record Receipt(String payment, String attempt) {}

    /** The steps of the call of a thread. Each statement is two: before and after it. */
    private static final class Steps {

        /** Other threads, such as those of the locks, have none. */
        static final ThreadLocal<Steps> OF_THREAD = new ThreadLocal<>();

        private final String payment;
        private final int stopAt;
        private int passed;

        Steps(String payment, int stopAt) {
            this.payment = payment;
            this.stopAt = stopAt;
        }

        static void pass(String step) {
            Steps steps = OF_THREAD.get();
            if (steps == null) {
                return;
            }
            if (steps.stopAt == SAY_ALL) {
                say("step " + step);
            } else if (steps.passed++ == steps.stopAt) {
                say("at " + steps.payment + " " + step);
                while (true) {
                    LockSupport.park();
                }
            }
        }
    }

    private static void say(String line) {
        // The test knows by the dot that the line is whole.
        OUTPUT.println(line.lines().findFirst().orElse("") + ".");
    }

    public static class Payments {

        private final JdbcTemplate jdbc;
        private final boolean effectLater;

        Payments(JdbcTemplate jdbc, boolean effectLater) {
            this.jdbc = jdbc;
            this.effectLater = effectLater;
        }

        @Idempotent(name = "killed", key = "#id")
        public Receipt settle(String id) {
            String attempt = ProcessHandle.current().pid() + "-" + UUID.randomUUID();
            if (effectLater) {
                TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
                    @Override
                    public void afterCommit() {
                        insert(id, attempt);
                    }
                });
            } else {
                insert(id, attempt);
            }
            return new Receipt(id, attempt);
        }

        private void insert(String id, String attempt) {
            jdbc.update("INSERT INTO killed_payments (id, attempt) VALUES (?, ?)", id, attempt);
        }
    }

    @Bean
    DataSource dataSource(Environment environment) {
        return new DelegatingDataSource(
                new DriverManagerDataSource(requireNonNull(environment.getProperty("test.database")))) {
            @Override
            public Connection getConnection() throws SQLException {
                return stepping(Connection.class, super.getConnection(), "");
            }
        };
    }

    private static final Set<String> STEPS =
            Set.of("setAutoCommit", "commit", "rollback", "executeUpdate", "executeQuery");

    /** Returns the object with a step before and after each call that reaches the database. */
    private static <T> T stepping(Class<T> type, T to, String sql) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (proxy, method, args) -> {
            String what = method.getName();
            boolean isStep = STEPS.contains(what) || what.endsWith("Savepoint");
            String step = sql.isEmpty() ? what : sql;
            if (isStep) {
                Steps.pass("before " + step);
            }
            Object result;
            try {
                result = method.invoke(to, args);
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
            if (isStep) {
                Steps.pass("after " + step);
            }
            return result instanceof PreparedStatement statement
                    ? stepping(PreparedStatement.class, statement, verb((String) args[0]))
                    : result;
        }));
    }

    /** Returns the first word, and the table that the effect writes. */
    private static String verb(String sql) {
        String verb = sql.substring(0, sql.indexOf(' ')).toUpperCase(Locale.ROOT);
        return sql.contains("killed_payments") ? verb + " of the effect" : verb + " of the key";
    }

    @Bean
    PlatformTransactionManager transactionManager(DataSource source) {
        return new JdbcTransactionManager(source);
    }

    @Bean
    JsonMapper jsonMapper() {
        return new JsonMapper();
    }

    @Bean
    Payments payments(DataSource source, @Value("${test.fault:none}") String fault) {
        // Spring gives another DataSource a connection of its own, which commits after each statement.
        DataSource effects = fault.equals("none") ? source : new DelegatingDataSource(source);
        return new Payments(new JdbcTemplate(effects), fault.equals(KEY_FIRST));
    }

    public static void main(String[] args) throws IOException {
        try (AnnotationConfigApplicationContext context =
                        new AnnotationConfigApplicationContext(KilledApplication.class);
                BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            Payments payments = context.getBean(Payments.class);
            say("ready");
            for (String line = input.readLine(); line != null; line = input.readLine()) {
                List<String> words = List.of(line.split(" ", -1));
                Thread call = new Thread(() -> settle(payments, words.get(0), Integer.parseInt(words.get(1))));
                call.setDaemon(true);
                call.start();
            }
        }
    }

    private static void settle(Payments payments, String id, int stopAt) {
        Steps.OF_THREAD.set(new Steps(id, stopAt));
        for (int i = 0; i < CALLS_MAX; i++) {
            try {
                Steps.pass("before the call");
                Receipt receipt = payments.settle(id);
                Steps.pass("after the call");
                say("done " + receipt.payment() + " " + receipt.attempt());
                return;
            } catch (RuntimeException e) {
                // A caller repeats what failed, for example because a busy machine has let its lease run out.
                say("failed " + e);
            }
        }
    }
}
