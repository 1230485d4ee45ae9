package io.holdfast.sql;

import io.holdfast.testkit.servers.MariaDbServer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestInstance;

/** A MariaDB that fails. */
@Tag("deep")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class MariaDbFailureTest extends FailingDatabase {

    private MariaDbServer server;

    /** Starts the server. Skips the tests where this machine cannot run it. */
    MariaDbServer started() {
        return Databases.ownMariaDb();
    }

    @BeforeAll
    void start() {
        server = started();
    }

    @AfterAll
    void end() {
        if (server != null) {
            server.close();
        }
    }

    @Override
    String url() {
        return server.url();
    }

    @Override
    String adminUrl() {
        return server.adminUrl();
    }

    @Override
    int port() {
        return server.port();
    }

    @Override
    void kill() {
        server.kill();
    }

    @Override
    void restart() throws Exception {
        server.restart();
    }

    @Override
    void pause() {
        server.pause();
    }

    @Override
    void resume() {
        server.resume();
    }

    @Override
    void endSessions() throws SQLException {
        server.endSessions();
    }

    @Override
    void readOnly(boolean on) throws SQLException {
        Databases.execute(adminUrl(), "SET GLOBAL read_only = " + (on ? "ON" : "OFF"));
    }

    @Override
    Connection lockedTable() throws SQLException {
        return TableTest.foreign(adminUrl(), "LOCK TABLES holdfast_lock WRITE");
    }

    @Override
    long deadlocks() throws SQLException {
        return number("SELECT variable_value FROM information_schema.global_status WHERE variable_name ="
                + " 'INNODB_DEADLOCKS'");
    }

    final long number(String question) throws SQLException {
        try (Connection connection = DriverManager.getConnection(adminUrl());
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(question)) {
            row.next();
            return row.getLong(1);
        }
    }

    /** InnoDB ends the transaction that has changed less. */
    @Override
    List<String> toSurviveADeadlock() {
        List<String> changes = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            changes.add("INSERT INTO holdfast_card (client, card, written, heard, ends) VALUES ('heavy" + i
                    + "', '', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))");
        }
        return changes;
    }
}
