package io.holdfast.spring.once;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.spring.Idempotent;
import io.holdfast.spring.LogLines;
import io.holdfast.spring.boot.Contexts;
import io.holdfast.spring.call.OnceCalls;
import io.holdfast.spring.declaration.LockedDefinitionException;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.SimpleTransactionStatus;

/** A method that could run twice fails the start, in one sentence with the way out. */
public class IdempotentAtStartTest {

    static class Good {
        @Idempotent(name = "x", key = "#p0")
        public String method(String id) {
            return id;
        }
    }

    static class WithoutResult {
        @Idempotent(name = "x", key = "#p0", fingerprint = "#p0")
        public void method(String id) {}
    }

    static class Nameless {
        @Idempotent(key = "#p0")
        public void method(String id) {}
    }

    static class Keyless {
        @Idempotent(name = "x")
        public void method(String id) {}
    }

    static class WrongKey {
        @Idempotent(name = "x", key = "#p0.")
        public void method(String id) {}
    }

    static class UnknownParameter {
        @Idempotent(name = "x", key = "#p1")
        public void method(String id) {}
    }

    static class WrongFingerprint {
        @Idempotent(name = "x", key = "#p0", fingerprint = "#nobody")
        public void method(String id) {}
    }

    static class ShortTime {
        @Idempotent(name = "x", key = "#p0", keepFor = "100ms")
        public void method(String id) {}
    }

    @SuppressWarnings({"UnusedMethod", "UnusedVariable"})
    static class Private {
        @Idempotent(name = "x", key = "#p0")
        private void method(String id) {}
    }

    static class Final {
        @Idempotent(name = "x", key = "#p0")
        public final void method(String id) {}
    }

    static class Stage {
        @Idempotent(name = "x", key = "#p0")
        public CompletionStage<String> method(String id) {
            return CompletableFuture.completedFuture(id);
        }
    }

    static class NewTransaction {
        @Idempotent(name = "x", key = "#p0")
        @Transactional(propagation = Propagation.REQUIRES_NEW)
        public void method(String id) {}
    }

    static class ReadOnly {
        @Idempotent(name = "x", key = "#p0")
        @Transactional(readOnly = true)
        public void method(String id) {}
    }

    static class OtherManager {
        @Idempotent(name = "x", key = "#p0", transactionManager = "a")
        @Transactional("b")
        public void method(String id) {}
    }

    static class NoSuchManager {
        @Idempotent(name = "x", key = "#p0", transactionManager = "nobody")
        public void method(String id) {}
    }

    private static void refused(ApplicationContextRunner context, Class<?> bean, String... parts) {
        context.withBean("under test", bean).run(started -> {
            assertThat(started).hasFailed();
            Throwable failure = started.getStartupFailure();
            while (!(failure instanceof LockedDefinitionException) && failure.getCause() != null) {
                failure = failure.getCause();
            }
            assertThat(failure)
                    .isInstanceOf(LockedDefinitionException.class)
                    .hasMessageContaining("@Idempotent on " + bean.getName() + ".method(String): ")
                    .hasMessageContaining("(expected: ")
                    .hasMessageContainingAll(parts);
        });
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            Nameless         | it has no name
            Keyless          | it has no key, so it would run once for all calls
            WrongKey         | does not parse
            UnknownParameter | #p1
            WrongFingerprint | #nobody
            ShortTime        | keepFor: "100ms"
            Private          | a private method cannot be intercepted, so it would run at each call
            Final            | a final method cannot be intercepted, so it would run at each call
            Stage            | Mono.fromCallable(…).subscribeOn(Schedulers.boundedElastic())
            NewTransaction   | its effects would be committed without the key
            ReadOnly         | read-only
            OtherManager     | "a" is not that of its @Transactional, "b"
            NoSuchManager    | there is no transaction manager with the name or qualifier "nobody"
            """)
    void a_declaration_that_cannot_work(String bean, String part) throws ClassNotFoundException {
        refused(
                OnceContexts.h2("start" + UUID.randomUUID()),
                Class.forName(IdempotentAtStartTest.class.getName() + "$" + bean),
                part);
    }

    @Test
    void a_missing_table_is_named_with_its_statement() {
        JdbcDataSource source = new JdbcDataSource();
        source.setURL("jdbc:h2:mem:" + UUID.randomUUID());
        ApplicationContextRunner empty = OnceContexts.json(Contexts.memory("table"))
                .withBean(DataSource.class, () -> source)
                .withUserConfiguration(OnceContexts.Transactions.class);
        refused(empty, Good.class, "There is no table holdfast_once", "CREATE TABLE IF NOT EXISTS holdfast_once (");
        empty.withBean(Good.class)
                .withPropertyValues("holdfast.startup=lazy")
                .run(started -> assertThat(started).hasNotFailed());
    }

    @Test
    void a_table_of_an_older_version_is_named_with_its_missing_column() {
        String name = "older" + UUID.randomUUID();
        ApplicationContextRunner older = OnceContexts.h2(name);
        older.run(started ->
                started.getBean(JdbcTemplate.class).execute("ALTER TABLE holdfast_once DROP COLUMN keep_until"));
        refused(older, Good.class, "The table holdfast_once has no column keep_until");
    }

    @Test
    void a_missing_part_is_named() {
        ApplicationContextRunner memory = Contexts.memory("parts");
        refused(memory, Good.class, "there is no transaction manager bean", "spring-boot-starter-jdbc");
        ApplicationContextRunner other = memory.withBean(PlatformTransactionManager.class, OfNoDatabase::new);
        refused(other, Good.class, "there is no DataSource bean");
        JdbcDataSource source = new JdbcDataSource();
        source.setURL("jdbc:h2:mem:" + UUID.randomUUID());
        refused(
                OnceContexts.json(other.withBean(DataSource.class, () -> source)),
                Good.class,
                "does not include the connections of the DataSource");
        ApplicationContextRunner noMapper =
                memory.withBean(DataSource.class, () -> source).withUserConfiguration(OnceContexts.Transactions.class);
        refused(noMapper, Good.class, "its result and arguments need JSON, and there is no ObjectMapper bean");
        noMapper.withBean(WithoutResult.class)
                .withPropertyValues("holdfast.startup=lazy")
                .run(started -> assertThat(started).hasNotFailed());
    }

    public static class Pays {

        @Idempotent(name = "payment", key = "#id")
        public void settle(String id) {}

        @Idempotent(name = "payment", key = "'chargeback:' + #id")
        public void chargeBack(String id) {}
    }

    public static class Refunds {

        @Idempotent(name = "payment", key = "#refund")
        public void refund(String refund) {}
    }

    /** The work of the second one would silently not be done. */
    @Test
    void two_methods_with_one_name_are_a_warning() {
        try (LogLines log = new LogLines(OnceCalls.class)) {
            OnceContexts.h2("names" + UUID.randomUUID())
                    .withBean("one", Pays.class)
                    .withBean("two", Pays.class)
                    .run(started -> assertThat(started).hasNotFailed());
            assertThat(log.lines()).isEmpty();
            OnceContexts.h2("names" + UUID.randomUUID())
                    .withBean(Pays.class)
                    .withBean(Refunds.class)
                    .run(started -> assertThat(started).hasNotFailed());
            assertThat(log.lines())
                    .singleElement()
                    .asString()
                    .startsWith("WARNING @Idempotent on ")
                    .contains("Pays.settle(String) and @Idempotent on ", "Refunds.refund(String) have one name, so");
        }
    }

    /** Of messages, for example. */
    private static final class OfNoDatabase implements PlatformTransactionManager {

        @Override
        public TransactionStatus getTransaction(@Nullable TransactionDefinition definition) {
            return new SimpleTransactionStatus();
        }

        @Override
        public void commit(TransactionStatus status) {}

        @Override
        public void rollback(TransactionStatus status) {}
    }
}
