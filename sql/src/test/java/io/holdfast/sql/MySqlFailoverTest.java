package io.holdfast.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.testkit.faults.FaultProxy;
import io.holdfast.testkit.servers.MariaDbServer;
import java.sql.SQLException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A MySQL whose asynchronous replica is promoted. Either the driver tries both servers in turn, or one address leads to
 * the new primary. Its semi-synchronous replication is a plug-in that the tests' MySQL lacks.
 */
@Tag("deep")
class MySqlFailoverTest extends ReplicaFailover {

    /** An address of the primary, which is moved to the replica. */
    private FaultProxy address;

    private String moved;

    @BeforeEach
    void start() throws SQLException {
        primary = started(1);
        replica = started(2);
        address = FaultProxy.to("127.0.0.1", primary.port());
        String host = "//127.0.0.1:" + primary.port();
        moved = primary.url().replace(host, "//127.0.0.1:" + address.port());
        both = primary.url().replace(host, host + ",127.0.0.1:" + replica.port());
        Databases.execute(
                replica.adminUrl(),
                "CHANGE REPLICATION SOURCE TO SOURCE_HOST = '127.0.0.1', SOURCE_PORT = " + primary.port()
                        + ", SOURCE_USER = 'root', SOURCE_PASSWORD = '', SOURCE_AUTO_POSITION = 1,"
                        + " SOURCE_CONNECT_RETRY = 1",
                "START REPLICA",
                "SET GLOBAL read_only = ON");
        LockClient.connect(primary.url() + "&createTable=true").close();
        awaitReplica();
    }

    private static MariaDbServer started(int id) {
        return Databases.ownMySql(
                "server-id=" + id, "log-bin=log", "gtid-mode=ON", "enforce-gtid-consistency=ON", "relay-log=relay");
    }

    @AfterEach
    void end() {
        address.close();
    }

    /** Waits until the replica has executed all of the primary's transactions. */
    private void awaitReplica() throws SQLException {
        awaitExecuted(answer(primary, "SELECT @@global.gtid_executed", "@@global.gtid_executed"));
    }

    private void awaitExecuted(String transactions) throws SQLException {
        assertThat(answer(replica, "SELECT WAIT_FOR_EXECUTED_GTID_SET('" + transactions + "', 60) AS late", "late"))
                .isEqualTo("0");
    }

    /** Makes the replica the primary, after it has executed all that it has received. */
    private void promote() throws SQLException {
        awaitExecuted(answer(replica, "SHOW REPLICA STATUS", "Retrieved_Gtid_Set"));
        Databases.execute(replica.adminUrl(), "STOP REPLICA", "RESET REPLICA ALL", "SET GLOBAL read_only = OFF");
    }

    /** As administrators do it by plan: the primary takes no more writes, and the replica gets all. */
    private void switchOver() throws SQLException {
        Databases.execute(primary.adminUrl(), "SET GLOBAL read_only = ON");
        awaitReplica();
        promote();
    }

    /** The old primary stays, and its sessions as well. */
    @Test
    void the_address_is_moved_to_a_replica_that_has_every_hold() throws Exception {
        try (Kept kept = new Kept(moved);
                Crew crew = new Crew(moved)) {
            crew.awaitProgress();
            switchOver();
            address.redirect("127.0.0.1", replica.port());
            crew.awaitProgress();
            kept.assertKept();
        }
    }

    @Test
    void the_driver_goes_to_a_replica_that_has_every_hold() throws Exception {
        try (Kept kept = new Kept(both);
                Crew crew = new Crew(both)) {
            crew.awaitProgress();
            switchOver();
            primary.kill();
            crew.awaitProgress();
            kept.assertKept();
        }
    }

    /** Such a replica may forget a hold. Its holder hears of that, and tokens grow. */
    @Test
    void a_replica_forgets_what_it_had_not_received() throws Exception {
        try (Forgotten forgotten = new Forgotten(moved)) {
            awaitReplica();
            Databases.execute(replica.adminUrl(), "STOP REPLICA IO_THREAD");
            Lease lease = forgotten.take();
            primary.kill();
            promote();
            address.redirect("127.0.0.1", replica.port());
            forgotten.assertForgotten(lease);
        }
    }

    /** Otherwise the driver would end the session, and begin one there that this client has neither examined nor prepared. */
    @Test
    void a_connection_stays_when_the_first_server_is_back() throws Exception {
        switchOver();
        primary.kill();
        try (Link link = Databases.connect(both)) {
            primary.restart();
            // By default the driver goes back after 50.
            for (int i = 0; i < 100; i++) {
                assertThat(link.<Long>first("SELECT @@port", row -> row.getLong(1)))
                        .isEqualTo(replica.port());
            }
        }
    }
}
