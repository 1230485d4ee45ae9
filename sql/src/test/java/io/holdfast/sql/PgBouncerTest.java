package io.holdfast.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.spi.Finding;
import io.holdfast.testkit.servers.PgBouncer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Locks and data behind a pooler that gives each transaction another session. */
@Tag("deep")
class PgBouncerTest {

    private final String name = "pooled:" + UUID.randomUUID();

    @Test
    void theGuardHoldsBehindThePooler() throws Exception {
        String url = Databases.pgBouncer();
        try (LockClient one = LockClient.connect(url + "&createTable=true");
                LockClient two = LockClient.connect(url + "&createTable=true");
                Connection data = DriverManager.getConnection(url)) {
            data.setAutoCommit(false);
            Lease lease = one.acquire(name);
            assertThat(SqlGuard.canCheck(data, lease)).isTrue();
            SqlGuard guard = SqlGuard.check(data, lease);
            CompletableFuture<Lease> next = two.acquireAsync(name).toCompletableFuture();
            await().atMost(Duration.ofSeconds(30)).until(() -> two.inspect(name).waitingClients() == 1);
            lease.release();
            assertThat(one.tryAcquire(name)).isEmpty();
            guard.commitAndRelease(data);
            next.get(30, TimeUnit.SECONDS).close();
        }
    }

    /** A waiter sees the row, since no message reaches it. */
    @Test
    void locksArePassedOn() throws Exception {
        String url = Databases.pgBouncer() + "&createTable=true";
        try (LockClient one = LockClient.connect(url);
                LockClient two = LockClient.connect(url)) {
            for (int i = 0; i < 5; i++) {
                Lease lease = one.acquire(name);
                CompletableFuture<Lease> next = two.acquireAsync(name).toCompletableFuture();
                await().atMost(Duration.ofSeconds(30))
                        .until(() -> two.inspect(name).waitingClients() == 1);
                lease.release();
                next.get(30, TimeUnit.SECONDS).release();
            }
            assertThat(two.diagnose(name))
                    .filteredOn(finding -> finding.subject().equals("pooler"))
                    .singleElement()
                    .extracting(Finding::severity)
                    .isEqualTo(Finding.Severity.WARNING);
        }
    }

    @Test
    void aPoolerThatIsKilledUnderHeldAndWaitingLocksEndsNone() throws Exception {
        PgBouncer pooler = Databases.ownPgBouncer();
        LockClient.connect(Databases.url(SqlSettings.Kind.POSTGRESQL)).close();
        try (Kept kept = new Kept(pooler.url());
                LockClient holder = LockClient.connect(pooler.url());
                LockClient waiter = LockClient.connect(pooler.url());
                Crew crew = new Crew(pooler.url())) {
            Lease held = holder.acquire(name);
            CompletableFuture<Lease> next = waiter.acquireAsync(name).toCompletableFuture();
            for (int i = 0; i < 3; i++) {
                crew.awaitProgress();
                pooler.kill();
                Thread.sleep(300);
                pooler.restart();
            }
            crew.awaitProgress();
            assertThat(next).isNotDone();
            held.release();
            next.get(30, TimeUnit.SECONDS).release();
            kept.assertKept();
        } finally {
            pooler.close();
        }
    }
}
