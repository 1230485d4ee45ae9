package io.holdfast.spring.boot4;

import io.holdfast.LeadershipListener;
import io.holdfast.Lease;
import io.holdfast.LocalLock;
import io.holdfast.LockClient;
import io.holdfast.Term;
import io.holdfast.jdbc.JdbcOnce;
import io.holdfast.spring.Idempotent;
import io.holdfast.spring.Leader;
import io.holdfast.spring.Leaderships;
import io.holdfast.spring.Limited;
import io.holdfast.spring.LockKey;
import io.holdfast.spring.Locked;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.Transactional;

/** Processed ahead of time by {@link AotTest}, and run from what that made. */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration
class AotApplication {

    /** An argument whose property is a key. */
    public record Request(long siteId) {}

    public record Payment(String id) {}

    public record Receipt(String id, int number) {}

    public static class Work {

        private final LockClient client;
        private final AtomicInteger payments = new AtomicInteger();

        Work(LockClient client) {
            this.client = client;
        }

        @Transactional
        @Locked(name = "report", key = "#request.siteId", waitTime = "${work.wait:5s}", fallback = "instead")
        public String report(Request request, @Nullable Lease lease) {
            return lock() + " by " + (lease.fencingToken() > 0);
        }

        @SuppressWarnings("UnusedMethod") // called by reflection
        private String instead() {
            return "instead";
        }

        @Limited(name = "aot", permits = "#request.siteId", weight = "${work.weight:2}", fallback = "instead")
        public String limited(Request request, @Nullable Lease lease) {
            return lease.name() + " by " + lease.isValid();
        }

        @Idempotent(name = "settle", key = "#payment.id", keepFor = "${work.keep:30d}")
        public List<Receipt> settle(Payment payment) {
            return List.of(new Receipt(payment.id(), payments.incrementAndGet()));
        }

        @Leader("aot")
        public @Nullable String led(@Nullable Term term) {
            return term.leadership();
        }

        @Locked("marked")
        public String marked(@LockKey String tenant) {
            return lock();
        }

        /** Returns the name of the lock that is held besides that of the leader. */
        private String lock() {
            return client.localLocks().stream()
                    .map(LocalLock::name)
                    .filter(name -> !name.startsWith("leader:"))
                    .findFirst()
                    .orElse("none");
        }
    }

    @Bean
    DataSource dataSource() throws SQLException {
        JdbcDataSource source = new JdbcDataSource();
        source.setURL("jdbc:h2:mem:aot;DB_CLOSE_DELAY=-1");
        try (Connection connection = source.getConnection()) {
            JdbcOnce.defaults().createTable(connection);
        }
        return source;
    }

    @Bean
    PlatformTransactionManager transactionManager(DataSource source) {
        return new DataSourceTransactionManager(source);
    }

    @Bean
    Work work(LockClient client) {
        return new Work(client);
    }

    static final CountDownLatch ELECTED = new CountDownLatch(1);

    /** Marked by its method, which the generated code calls. */
    @Bean
    @Leader("aot")
    LeadershipListener listener() {
        return term -> ELECTED.countDown();
    }

    @SuppressWarnings("SystemOut") // read by the test
    public static void main(String[] args) throws InterruptedException {
        try (ConfigurableApplicationContext context = SpringApplication.run(AotApplication.class, args)) {
            Work work = context.getBean(Work.class);
            if (!ELECTED.await(60, TimeUnit.SECONDS)) {
                throw new IllegalStateException("not elected");
            }
            while (context.getBean(Leaderships.class).term("aot").isEmpty()) {
                Thread.sleep(10);
            }
            System.out.println("led " + work.led(null));
            System.out.println("limited " + work.limited(new Request(3), null));
            Payment payment = new Payment("17");
            System.out.println("settled " + work.settle(payment) + ", " + work.settle(payment));
            System.out.println("answer " + work.report(new Request(17), null) + ", " + work.marked("t1") + ", "
                    + work.getClass().getSimpleName());
        }
    }
}
