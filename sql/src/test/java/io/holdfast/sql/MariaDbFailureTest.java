package io.holdfast.sql;

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

/** A MariaDB that fails. */
@Tag("deep")
class MariaDbFailureTest extends FailingDatabase {

    private static MariaDbServer server;

    @BeforeAll
    static void start() {
        server = Databases.ownMariaDb();
    }

    @AfterAll
    static void end() {
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
        return server.rootUrl();
    }

    @Override
    int port() {
        return server.port();
    }

    @Override
    void kill() throws InterruptedException {
        server.kill();
    }

    @Override
    void restart() throws Exception {
        server.restart();
    }

    @Override
    void pause() throws Exception {
        server.signal("STOP");
    }

    @Override
    void resume() throws Exception {
        server.signal("CONT");
    }

    @Override
    void endSessions() throws SQLException {
        try (Connection connection = DriverManager.getConnection(adminUrl());
                Statement statement = connection.createStatement()) {
            statement.execute("KILL USER app");
        }
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
        try (Connection connection = DriverManager.getConnection(adminUrl());
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SHOW GLOBAL STATUS LIKE 'Innodb_deadlocks'")) {
            row.next();
            return row.getLong(2);
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
