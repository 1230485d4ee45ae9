package io.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.LeadershipListener;
import io.holdfast.Lease;
import io.holdfast.LocalLock;
import io.holdfast.LockClient;
import io.holdfast.Term;
import io.holdfast.spring.boot.Contexts;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.AliasFor;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

/** Runs the code of docs/spring.md, and that of docs/leadership.md for Spring. */
@Timeout(60)
class PagesTest {

    public record SiteReportRequest(long siteId) {}

    public record Report(String title) {}

    public record Price(int cents) {}

    public static class Clock {

        public String today() {
            return "2026-11-27";
        }
    }

    /** Finds out what names are locked while a method runs. */
    abstract static class Watched {

        final LockClient client;

        Watched(LockClient client) {
            this.client = client;
        }

        List<String> seen = new ArrayList<>();

        void look() {
            client.localLocks().stream().map(LocalLock::name).sorted().forEach(seen::add);
        }

        public List<String> seen() {
            return seen;
        }
    }

    public static class Work extends Watched {

        Work(LockClient client) {
            super(client);
        }

        @Locked(name = "order.refund", key = "#orderId", waitTime = "10s")
        public void refund(long orderId) {
            look();
        }

        @Locked(name = "report_data", key = "#request.siteId + ':' + @clock.today()", waitTime = "10s")
        public Boolean reportSiteData(SiteReportRequest request) {
            look();
            return true;
        }

        @Scheduled(cron = "0 0 3 * * *")
        @ScheduledLock(name = "nightly", atLeast = "1m")
        public void nightly() {
            look();
        }

        @Limited(name = "export", permits = "5", waitTime = "1m")
        public void export(Report report) {
            seen.add("export, " + client.permits("export", 5).inspect().used());
        }
    }

    @Test
    void the_first_declarations() {
        Contexts.memory("page-first")
                .withBean("clock", Clock.class)
                .withBean(Work.class)
                .run(context -> {
                    Work work = context.getBean(Work.class);
                    work.refund(42);
                    assertThat(work.reportSiteData(new SiteReportRequest(17))).isTrue();
                    work.nightly();
                    work.nightly(); // The lock is kept for a minute.
                    work.export(new Report("sales"));
                    assertThat(work.seen())
                            .containsExactly("order.refund:42", "report_data:17:2026-11-27", "nightly", "export, 1");
                });
    }

    static class RefundInProgressException extends RuntimeException {
        private static final long serialVersionUID = 1;

        RefundInProgressException(Collection<String> locks) {
            super("Refund in progress: " + locks);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Busy {

        @Bean
        LockFailureHandler busy() {
            return (method, arguments, failure) -> {
                throw new RefundInProgressException(failure.lockNames());
            };
        }

        @Bean
        Quick quick() {
            return new Quick();
        }
    }

    public static class Quick {

        @Locked(name = "order.refund", waitTime = "0")
        public void refund() {}
    }

    @Test
    void a_busy_lock() {
        Contexts.memory("page-busy").withUserConfiguration(Busy.class).run(context -> {
            try (LockClient other = LockClient.connect("memory:page-busy");
                    Lease held = other.acquire("order.refund")) {
                assertThatThrownBy(() -> context.getBean(Quick.class).refund())
                        .isInstanceOf(RefundInProgressException.class)
                        .hasMessage("Refund in progress: [order.refund]");
                assertThat(held.isValid()).isTrue();
            }
        });
    }

    @Target(ElementType.METHOD)
    @Retention(RetentionPolicy.RUNTIME)
    @Locked(name = "tenant", waitTime = "5s")
    public @interface PerTenant {
        @AliasFor(annotation = Locked.class, attribute = "key")
        String[] value();
    }

    public static class Declared extends Watched {

        private final List<Price> all = new ArrayList<>();

        Declared(LockClient client) {
            super(client);
        }

        @PerTenant("#tenant")
        public void perTenant(String tenant) {
            look();
        }

        @Locked(name = "catalog", mode = LockMode.READ)
        public List<Price> prices() {
            look();
            return List.copyOf(all);
        }

        @Locked(name = "catalog", mode = LockMode.WRITE)
        public void reload() {
            all.add(new Price(100));
        }

        @Locked(name = "report_data_lock:site_id", key = "#request.siteId", leaseTime = "2s", waitTime = "10s")
        public void report(SiteReportRequest request) {
            look();
        }
    }

    @Test
    void an_annotation_of_your_own_a_catalog_and_a_name_of_another_annotation() {
        Contexts.memory("page-declared").withBean(Declared.class).run(context -> {
            Declared work = context.getBean(Declared.class);
            work.perTenant("a");
            work.reload();
            assertThat(work.prices()).containsExactly(new Price(100));
            work.report(new SiteReportRequest(17));
            assertThat(work.seen()).contains("tenant:a", "report_data_lock:site_id:17");
        });
    }

    @Test
    void a_template() {
        Contexts.memory("page-template").run(context -> {
            LockTemplate locks = context.getBean(LockTemplate.class);
            long orderId = 42;
            Refunds refunds = new Refunds();
            Reports reports = new Reports();
            long receipt =
                    locks.execute("order:refund:" + orderId, lease -> refunds.execute(orderId, lease.fencingToken()));
            boolean ran = locks.tryExecute("report", lease -> reports.build());
            long moved = locks.executeAll(List.of("account:1", "account:2"), leases -> transfer(leases));
            assertThat(receipt).isEqualTo(43);
            assertThat(ran).isTrue();
            assertThat(moved).isEqualTo(7);
        });
    }

    private static long transfer(Map<String, Lease> leases) {
        assertThat(leases).containsOnlyKeys("account:1", "account:2");
        return 7;
    }

    static final class Refunds {

        long execute(long order, long token) {
            assertThat(token).isPositive();
            return order + 1;
        }
    }

    static final class Reports {

        void build() {}
    }

    /** Is compiled only: {@link ClientChoiceTest} has a second client in memory. */
    @Configuration(proxyBeanMethods = false)
    static class SecondClient {

        @Bean(defaultCandidate = false)
        @Qualifier("zk")
        LockClient zk() {
            return LockClient.connect("zookeeper://zk1,zk2,zk3");
        }

        @Locked(name = "report", client = "zk")
        public void report() {}
    }

    public static class Cache {

        final Queue<String> events = new ConcurrentLinkedQueue<>();
    }

    @Configuration(proxyBeanMethods = false)
    @EnableScheduling
    static class Outbox {

        final Queue<String> events;

        Outbox(Cache cache) {
            events = cache.events;
        }

        @Scheduled(fixedDelay = 1000)
        @Leader("outbox")
        public void send() {
            events.add("sent");
        }

        @Bean
        @Leader("outbox")
        LeadershipListener cache(Cache cache) {
            return new LeadershipListener() {
                @Override
                public void onElected(Term term) {
                    cache.events.add("elected");
                }

                @Override
                public void onRevoked(Term term) {
                    cache.events.add("revoked");
                }
            };
        }
    }

    @Test
    void a_leader_and_its_listener() {
        Cache told = new Cache();
        Contexts.memory("page-leader")
                .withBean("told", Cache.class, () -> told)
                .withUserConfiguration(Outbox.class)
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    await().until(() -> told.events.containsAll(List.of("elected", "sent")));
                });
        assertThat(told.events).endsWith("revoked");
    }
}
