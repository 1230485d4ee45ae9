package io.holdfast.samples.sidebyside;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.Lease;
import io.holdfast.LeaseLostException;
import io.holdfast.LockClient;
import io.holdfast.spring.ScheduledLock;
import io.holdfast.spring.shedlock.HoldfastLockProvider;
import io.holdfast.testkit.servers.RedisServer;
import java.time.Duration;
import java.time.Instant;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.redis.spring.RedisLockProvider;
import net.javacrumbs.shedlock.spring.annotation.EnableSchedulerLock;
import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** ShedLock's Redis provider and ours, on the same keys. */
class ShedLockTest {

    private static final String ENVIRONMENT = "shop";

    @Test
    void a_task_runs_on_one_of_the_two_kinds() {
        try (RedisServer server = RedisServer.start();
                Connections connections = Connections.to(server);
                LockClient client = client(server)) {
            LockProvider theirs = theirs(connections.factory(), true);
            LockProvider ours = ours(client);

            SimpleLock held = theirs.lock(task(60_000, 0)).orElseThrow();
            assertThat(ours.lock(task(60_000, 0))).isEmpty();
            held.unlock();

            held = ours.lock(task(60_000, 0)).orElseThrow();
            assertThat(theirs.lock(task(60_000, 0))).isEmpty();
            held.unlock();

            theirs.lock(task(60_000, 60_000)).orElseThrow().unlock();
            assertThat(ours.lock(task(60_000, 0)))
                    .as("lockAtLeastFor of ShedLock")
                    .isEmpty();
            assertThat(client.forceRelease(key())).isTrue();

            ours.lock(task(60_000, 60_000)).orElseThrow().unlock();
            assertThat(theirs.lock(task(60_000, 0))).as("our lockAtLeastFor").isEmpty();
        }
    }

    /** The task of an old instance overran its lockAtMostFor, and a new instance has the lock by then. */
    @Test
    void a_late_unlock_of_ShedLock_leaves_our_lock_only_with_safeUpdate() throws Exception {
        try (RedisServer server = RedisServer.start();
                Connections connections = Connections.to(server);
                LockClient client = client(server)) {
            for (boolean safe : new boolean[] {true, false}) {
                SimpleLock late =
                        theirs(connections.factory(), safe).lock(task(300, 0)).orElseThrow();
                try (Lease ours = client.acquire(key())) {
                    assertThat(ours.isValid()).isTrue();
                    late.unlock();
                    assertThat(client.inspect(key()).isLocked()).isEqualTo(safe);
                    if (!safe) {
                        await().atMost(Duration.ofSeconds(20)).until(() -> !ours.isValid());
                    }
                } catch (LeaseLostException e) {
                    assertThat(safe).isFalse();
                }
            }
        }
    }

    /** An instance of the rollout between ShedLock's annotation and ours. */
    static class Job {

        private int runs;

        @SchedulerLock(name = "invoices", lockAtMostFor = "1m")
        @ScheduledLock(name = "invoices")
        public Integer run() {
            return ++runs;
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @EnableSchedulerLock(defaultLockAtMostFor = "1m")
    static class Application {

        @Bean
        Job job() {
            return new Job();
        }

        @Bean
        LockProvider lockProvider(RedisConnectionFactory connections) {
            return new RedisLockProvider(connections, ENVIRONMENT);
        }
    }

    @Test
    void a_method_with_both_annotations_skips_what_runs_under_either() throws Exception {
        try (RedisServer server = RedisServer.start();
                ConfigurableApplicationContext context = SpringApplication.run(
                        Application.class,
                        "--spring.main.banner-mode=off",
                        "--logging.level.root=warn",
                        "--spring.data.redis.url=" + server.uri());
                Connections connections = Connections.to(server);
                LockClient moved = LockClient.connect(server.uri())) {
            Job job = context.getBean(Job.class);
            assertThat(job.run()).isEqualTo(1);

            SimpleLock old =
                    theirs(connections.factory(), true).lock(task(60_000, 0)).orElseThrow();
            assertThat(job.run()).isNull();
            old.unlock();
            assertThat(job.run()).isEqualTo(2);

            try (Lease lease = moved.acquire("invoices")) {
                assertThat(job.run()).isNull();
                lease.ensureValid();
            }
            assertThat(job.run()).isEqualTo(3);
        }
    }

    private static LockClient client(RedisServer server) {
        return LockClient.builder()
                .uri(server.uri() + "?mode=commands&namePrefix=")
                .leaseTime(Duration.ofSeconds(3))
                .build();
    }

    private static LockProvider theirs(LettuceConnectionFactory connections, boolean safe) {
        return new RedisLockProvider.Builder(connections)
                .environment(ENVIRONMENT)
                .safeUpdate(safe)
                .build();
    }

    private static LockProvider ours(LockClient client) {
        return new HoldfastLockProvider(client, "job-lock:" + ENVIRONMENT);
    }

    private static String key() {
        return "job-lock:" + ENVIRONMENT + ":invoices";
    }

    private static LockConfiguration task(long atMostMillis, long atLeastMillis) {
        return new LockConfiguration(
                Instant.now(), "invoices", Duration.ofMillis(atMostMillis), Duration.ofMillis(atLeastMillis));
    }
}
