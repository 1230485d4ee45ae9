package io.holdfast.testkit.torture;

import io.holdfast.testkit.servers.MariaDbServer;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;

/** One MariaDB or MySQL. */
final class OwnMariaDb extends OwnDatabase {

    private final MariaDbServer server;
    private final String name;

    private OwnMariaDb(MariaDbServer server, String name) {
        super(server.url(), server.port());
        this.server = server;
        this.name = name;
    }

    static OwnMariaDb start() {
        return started("MariaDB", MariaDbServer::start);
    }

    static OwnMariaDb startMySql() {
        return started("MySQL", MariaDbServer::startMySql);
    }

    private interface Start {
        MariaDbServer run(String... settings) throws IOException, InterruptedException;
    }

    private static OwnMariaDb started(String name, Start start) {
        try {
            return new OwnMariaDb(start.run(), name);
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(name + " does not start: " + e.getMessage(), e);
        }
    }

    @Override
    public String describe() {
        return name + " at port " + server.port();
    }

    @Override
    void pauseServer() {
        server.pause();
    }

    @Override
    void resumeServer() {
        server.resume();
    }

    @Override
    void killServer() {
        server.kill();
    }

    @Override
    void restartServer() throws IOException, InterruptedException {
        server.restart();
    }

    @Override
    void endSessions() throws IOException {
        try {
            server.endSessions();
        } catch (SQLException e) {
            throw new IOException(e);
        }
    }

    @Override
    void readOnly(boolean on) throws IOException {
        execute(server.adminUrl(), "SET GLOBAL read_only = " + (on ? "ON" : "OFF"));
    }

    @Override
    Connection lockedTable() throws SQLException {
        return open(server.adminUrl(), "LOCK TABLES holdfast_lock WRITE");
    }

    @Override
    public void close() {
        super.close();
        server.close();
    }
}
