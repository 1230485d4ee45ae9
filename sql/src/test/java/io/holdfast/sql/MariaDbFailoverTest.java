package io.holdfast.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.spi.StoreException;
import java.net.URI;
import java.sql.SQLException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A MariaDB that is killed, and its replica that is promoted. The driver tries both in turn. */
@Tag("deep")
class MariaDbFailoverTest extends ReplicaFailover {

    @BeforeEach
    void start() {
        primary = Databases.ownMariaDb("server-id=1", "log-bin=log");
        replica = Databases.ownMariaDb(
                "server-id=2",
                "log-bin=log",
                "log-slave-updates=ON",
                "gtid-domain-id=2",
                "rpl-semi-sync-slave-enabled=ON");
        both = primary.url()
                .replace(
                        "mariadb://127.0.0.1:" + primary.port(),
                        "mariadb:sequential://127.0.0.1:" + primary.port() + ",127.0.0.1:" + replica.port());
    }

    private void replicate() throws SQLException {
        Databases.execute(
                replica.adminUrl(),
                "CHANGE MASTER TO MASTER_HOST = '127.0.0.1', MASTER_PORT = " + primary.port()
                        + ", MASTER_USER = 'root', MASTER_PASSWORD = '', MASTER_USE_GTID = slave_pos,"
                        + " MASTER_CONNECT_RETRY = 1, MASTER_SSL = 0, MASTER_SSL_VERIFY_SERVER_CERT = 0",
                "START SLAVE",
                "SET GLOBAL read_only = ON");
        LockClient.connect(primary.url() + "&createTable=true").close();
        awaitReplica();
    }

    private void replicateSemiSynchronously() throws SQLException {
        Databases.execute(
                primary.adminUrl(),
                "SET GLOBAL rpl_semi_sync_master_wait_point = AFTER_SYNC",
                "SET GLOBAL rpl_semi_sync_master_timeout = 3600000",
                "SET GLOBAL rpl_semi_sync_master_enabled = ON");
        replicate();
        assertThat(answer(primary, "SHOW STATUS LIKE 'rpl_semi_sync_master_clients'", "Value"))
                .isEqualTo("1");
        assertThat(answer(primary, "SHOW STATUS LIKE 'rpl_semi_sync_master_status'", "Value"))
                .isEqualTo("ON");
    }

    /** Waits until the replica has executed all of the primary's statements. */
    private void awaitReplica() throws SQLException {
        String position = answer(primary, "SELECT @@gtid_binlog_pos AS position", "position");
        assertThat(answer(replica, "SELECT MASTER_GTID_WAIT('" + position + "', 60) AS late", "late"))
                .isEqualTo("0");
    }

    /** Makes the replica the primary, after it has executed all that it has received. */
    private void promote() throws SQLException {
        String received = answer(replica, "SHOW SLAVE STATUS", "Gtid_IO_Pos");
        assertThat(answer(replica, "SELECT MASTER_GTID_WAIT('" + received + "', 60) AS late", "late"))
                .isEqualTo("0");
        Databases.execute(replica.adminUrl(), "STOP SLAVE", "RESET SLAVE ALL", "SET GLOBAL read_only = OFF");
    }

    @Test
    void a_semi_synchronous_replica_has_every_hold() throws Exception {
        replicateSemiSynchronously();
        try (Kept kept = new Kept(both);
                Crew crew = new Crew(both)) {
            crew.awaitProgress();
            primary.kill();
            promote();
            crew.awaitProgress();
            kept.assertKept();
        }
    }

    /** A take that no replica has is no take. */
    @Test
    void a_semi_synchronous_replica_that_is_away_lets_nobody_take_a_lock() throws Exception {
        replicateSemiSynchronously();
        try (Kept kept = new Kept(both);
                Crew crew = new Crew(both)) {
            crew.awaitProgress();
            replica.pause();
            try {
                crew.awaitError("Lock wait timeout exceeded");
            } finally {
                replica.resume();
            }
            crew.awaitProgress();
            kept.assertKept();
        }
    }

    /** The session's limit of a statement's time must not end its wait: everybody would see what the replica lacks. */
    @Test
    void a_commit_that_no_replica_has_confirmed_is_seen_by_nobody() throws Exception {
        replicateSemiSynchronously();
        try (Link link = Databases.connect(both)) {
            LockTable table = new MySqlTable();
            String key = LockKey.of("unconfirmed");
            table.make(link, key, "unconfirmed", 5);
            replica.pause();
            try {
                assertThatThrownBy(() -> table.take(link, key, "hf-a:1", 30_000))
                        .isInstanceOfSatisfying(
                                SQLException.class,
                                e -> assertThat(new SqlErrors(SqlSettings.parse(URI.create(both)))
                                                .ofCommand(e)
                                                .outcome())
                                        .isEqualTo(StoreException.Outcome.UNKNOWN));
                assertThat(answer(primary, "SELECT holder FROM holdfast_lock WHERE lock_key = '" + key + "'", "holder"))
                        .isEmpty();
            } finally {
                replica.resume();
            }
        }
    }

    /** Such a replica may forget a hold. Its holder hears of that, and tokens grow. */
    @Test
    void an_asynchronous_replica_forgets_what_it_had_not_received() throws Exception {
        replicate();
        try (Forgotten forgotten = new Forgotten(both)) {
            awaitReplica();
            Databases.execute(replica.adminUrl(), "STOP SLAVE IO_THREAD");
            Lease lease = forgotten.take();
            primary.kill();
            promote();
            forgotten.assertForgotten(lease);
        }
    }
}
