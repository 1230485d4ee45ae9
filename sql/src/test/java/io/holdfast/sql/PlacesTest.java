package io.holdfast.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.testkit.servers.PostgresServer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** How a store knows that a connection of the data leads to its own database. */
@Tag("deep") // starts a server of its own
class PlacesTest {

    /**
     * Such a server is known by its start alone. A process that did not know it any more would guard by another table
     * than the processes that began later, and they would not exclude each other.
     */
    @Test
    void aServerThatWasStartedAgainIsKnownWithoutTheRightToAskForItsNumber() throws Exception {
        try (PostgresServer server = Databases.ownPostgres()) {
            LockClient.connect(server.url() + "&createTable=true").close();
            Databases.execute(
                    server.url(),
                    "REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC",
                    "CREATE ROLE app LOGIN",
                    "GRANT SELECT, INSERT, UPDATE, DELETE ON holdfast_lock, holdfast_card TO app");
            String url = server.url().replace("user=test", "user=app");
            try (LockClient client = LockClient.connect(url);
                    Lease lease = client.acquire("place")) {
                assertThat(canCheck(url, lease)).isTrue();
                server.kill();
                server.restart();
                await().atMost(Duration.ofSeconds(30))
                        .ignoreExceptions()
                        .until(() -> client.tryAcquire("other").isPresent());
                assertThat(canCheck(url + "&ApplicationName=another-pool", lease))
                        .isTrue();
            }
        }
    }

    private static boolean canCheck(String url, Lease lease) throws Exception {
        try (Connection data = DriverManager.getConnection(url)) {
            return SqlGuard.canCheck(data, lease);
        }
    }
}
