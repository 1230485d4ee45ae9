package io.holdfast.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.memory.VirtualTime;
import io.holdfast.testkit.servers.MariaDbServer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A MySQL or MariaDB with a replica, and a driver that knows both. */
abstract class ReplicaFailover {

    MariaDbServer primary;
    MariaDbServer replica;

    /** The URL of both servers. */
    String both;

    @AfterEach
    final void endServers() {
        replica.close();
        primary.close();
    }

    static String answer(MariaDbServer server, String question, String column) throws SQLException {
        try (Connection connection = DriverManager.getConnection(server.adminUrl());
                Statement statement = connection.createStatement();
                ResultSet answer = statement.executeQuery(question)) {
            assertThat(answer.next()).as(question).isTrue();
            return answer.getString(column);
        }
    }

    /** The driver replaces the session by one that this client has neither examined nor prepared. */
    @Test
    void a_connection_whose_driver_goes_to_the_other_server_is_given_up() {
        VirtualTime time = new VirtualTime();
        try (Link link = Databases.connecting(both, time).connect()) {
            time.advance(Duration.ofMinutes(1));
            assertThat(link.isDead()).isFalse();
            primary.kill();
            time.advance(Duration.ofMinutes(1));
            assertThat(link.isDead()).isTrue();
        }
    }
}
