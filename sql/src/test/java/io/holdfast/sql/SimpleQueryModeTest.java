package io.holdfast.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import java.sql.Connection;
import java.sql.DriverManager;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The statements in the driver's simple query mode, which some poolers need: there, no parameter has a type. */
class SimpleQueryModeTest extends PostgresTableTest {

    private static String simple() {
        return Databases.postgres() + "&createTable=true&preferQueryMode=simple";
    }

    @Override
    String url() {
        return simple();
    }

    @Test
    void aGuardedTransactionPassesTheLockOn() throws Exception {
        String name = "simple:" + UUID.randomUUID();
        try (LockClient one = LockClient.connect(simple());
                LockClient two = LockClient.connect(simple());
                Connection data = DriverManager.getConnection(Databases.postgres() + "&preferQueryMode=simple")) {
            data.setAutoCommit(false);
            Lease lease = one.acquire(name);
            SqlGuard guard = SqlGuard.check(data, lease);
            CompletableFuture<Lease> next = two.acquireAsync(name).toCompletableFuture();
            await().until(() -> two.inspect(name).waitingClients() == 1);
            guard.commitAndRelease(data);
            assertThat(next.get(30, TimeUnit.SECONDS).isValid()).isTrue();
            next.join().release();
        }
    }
}
