package io.holdfast.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.testkit.servers.PostgresServer;
import java.time.Duration;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A PostgreSQL that fails under three clients. After each failure: never two holders, nobody stuck, and each error one
 * of the store.
 */
@Tag("deep")
class SqlFailureTest {

    private static final LockOptions MINUTE = LockOptions.defaults().leaseFor(Duration.ofMinutes(1));

    private static PostgresServer server;

    private final String kept = "kept:" + UUID.randomUUID();

    @BeforeAll
    static void start() {
        server = Databases.ownPostgres();
    }

    @AfterAll
    static void end() {
        server.close();
    }

    @BeforeEach
    void makeTables() {
        LockClient.connect(url() + "&createTable=true").close();
    }

    private static String url() {
        return server.url();
    }

    private void assertKept(LockClient holder, Lease lease) throws InterruptedException {
        assertThat(lease.isValid()).isTrue();
        try (LockClient other = LockClient.connect(url())) {
            assertThat(other.tryAcquire(kept)).isEmpty();
            lease.release();
            other.acquire(kept).release();
        }
        holder.close();
    }

    @Test
    void a_killed_server_keeps_the_holds() throws Exception {
        LockClient holder = Crew.client(url());
        Lease lease = holder.acquire(kept, MINUTE);
        try (Crew crew = new Crew(url())) {
            crew.awaitProgress();
            server.kill();
            crew.awaitError("jdbc:postgresql://127.0.0.1");
            server.restart();
            crew.awaitProgress();
            assertKept(holder, lease);
        }
    }

    @Test
    void a_server_that_stood_still_for_longer_than_a_lease_goes_on() throws Exception {
        try (Crew crew = new Crew(url())) {
            crew.awaitProgress();
            LockClient holder = Crew.client(url());
            Lease lease = holder.acquire(kept);
            server.pause();
            try {
                await().atMost(Duration.ofSeconds(40)).until(() -> !lease.isValid());
                crew.awaitError("jdbc:postgresql://127.0.0.1");
            } finally {
                server.resume();
            }
            crew.awaitProgress();
            holder.acquire(kept).release();
            holder.close();
        }
    }
}
