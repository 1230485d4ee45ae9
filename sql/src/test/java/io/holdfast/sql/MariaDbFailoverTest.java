package io.holdfast.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.memory.VirtualTime;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.StoreException;
import io.holdfast.spi.TimeSource;
import io.holdfast.testkit.servers.MariaDbServer;
import java.net.URI;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A MariaDB that is killed, and its replica that is promoted. The driver tries both in turn. */
@Tag("deep")
class MariaDbFailoverTest {

    private MariaDbServer primary;
    private MariaDbServer replica;

    /** The URL of both servers. */
    private String both;

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

    @AfterEach
    void end() {
        replica.close();
        primary.close();
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
        assertThat(answer(primary, "SHOW STATUS LIKE 'rpl_semi_sync_master_clients'", 2))
                .isEqualTo("1");
        assertThat(answer(primary, "SHOW STATUS LIKE 'rpl_semi_sync_master_status'", 2))
                .isEqualTo("ON");
    }

    /** Waits until the replica has executed all of the primary's statements. */
    private void awaitReplica() throws SQLException {
        String position = answer(primary, "SELECT @@gtid_binlog_pos", 1);
        assertThat(answer(replica, "SELECT MASTER_GTID_WAIT('" + position + "', 60)", 1))
                .isEqualTo("0");
    }

    private static String answer(MariaDbServer server, String question, Object column) throws SQLException {
        try (Connection connection = DriverManager.getConnection(server.adminUrl());
                Statement statement = connection.createStatement();
                ResultSet answer = statement.executeQuery(question)) {
            assertThat(answer.next()).as(question).isTrue();
            return column instanceof Integer index ? answer.getString(index) : answer.getString((String) column);
        }
    }

    /** Makes the replica the primary, after it has executed all that it has received. */
    private void promote() throws SQLException {
        String received = answer(replica, "SHOW SLAVE STATUS", "Gtid_IO_Pos");
        assertThat(answer(replica, "SELECT MASTER_GTID_WAIT('" + received + "', 60)", 1))
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
        try (Link link = connect(TimeSource.system())) {
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
                assertThat(answer(primary, "SELECT holder FROM holdfast_lock WHERE lock_key = '" + key + "'", 1))
                        .isEmpty();
            } finally {
                replica.resume();
            }
        }
    }

    private Link connect(TimeSource time) {
        SqlSettings settings = SqlSettings.parse(URI.create(both));
        StoreContext context = new StoreContext("hf-test", time);
        return new Connecting(Drivers.find(settings), settings, context, new SqlErrors(settings)).connect();
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

    /** The driver replaces the session by one that this client has neither examined nor prepared. */
    @Test
    void a_connection_whose_driver_goes_to_the_other_server_is_given_up() {
        VirtualTime time = new VirtualTime();
        try (Link link = connect(time)) {
            time.advance(Duration.ofMinutes(1));
            assertThat(link.isDead()).isFalse();
            primary.kill();
            time.advance(Duration.ofMinutes(1));
            assertThat(link.isDead()).isTrue();
        }
    }
}
