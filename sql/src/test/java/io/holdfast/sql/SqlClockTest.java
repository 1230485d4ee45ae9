package io.holdfast.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import java.sql.SQLException;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The clock of PostgreSQL is set. A schema before the system's own has a function {@code clock_timestamp}, so the store's
 * statements read the clock of the test.
 */
@Tag("deep")
class SqlClockTest {

    private final String schema = "clock" + UUID.randomUUID().toString().replace("-", "");
    private String url;

    @BeforeEach
    void make() throws SQLException {
        Databases.execute(
                Databases.postgres(),
                "CREATE SCHEMA " + schema,
                "CREATE TABLE " + schema + ".ahead (seconds INT NOT NULL)",
                "INSERT INTO " + schema + ".ahead VALUES (0)",
                "CREATE FUNCTION " + schema + ".clock_timestamp() RETURNS TIMESTAMPTZ VOLATILE LANGUAGE sql AS 'SELECT"
                        + " pg_catalog.clock_timestamp() + seconds * INTERVAL ''1 second'' FROM " + schema + ".ahead'");
        url = Databases.postgres() + "&currentSchema=" + schema + ",pg_catalog&createTable=true";
    }

    private void set(int seconds) throws SQLException {
        Databases.execute(Databases.postgres(), "UPDATE " + schema + ".ahead SET seconds = " + seconds);
    }

    /** What the page of guarantees says: the hold ends early, and its holder hears of that. */
    @Test
    void a_clock_set_forward_ends_leases_early() throws Exception {
        try (LockClient holder = Crew.client(url);
                LockClient other = Crew.client(url)) {
            Lease lease = holder.acquire("forward");
            CompletableFuture<Boolean> told = new CompletableFuture<>();
            lease.onLost(() -> told.complete(true));
            assertThat(other.tryAcquire("forward")).isEmpty();
            set(3_600);
            Lease next = other.acquireAsync("forward").toCompletableFuture().get(30, TimeUnit.SECONDS);
            assertThat(next.fencingToken()).isGreaterThan(lease.fencingToken());
            await().atMost(Duration.ofSeconds(20)).until(told::isDone);
            next.release();
            holder.acquire("forward").release();
        }
    }

    @Test
    void a_clock_set_back_leaves_the_holds() throws Exception {
        set(3_600);
        try (Kept kept = new Kept(url);
                Crew crew = new Crew(url)) {
            for (int seconds : new int[] {3_595, 3_580, 1_800, 0}) {
                crew.awaitProgress();
                set(seconds);
            }
            crew.awaitProgress();
            kept.assertKept();
        }
    }
}
