package io.holdfast.testkit.torture;

import io.holdfast.testkit.faults.FaultProxy;
import io.holdfast.testkit.servers.PostgresServer;
import java.io.IOException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** One PostgreSQL behind a proxy. It keeps what it has committed, so no fault is excused. */
final class OwnPostgres implements TortureServers {

    private static final int LONGEST_MILLIS = 4_000;

    private final PostgresServer server = started();
    private final FaultProxy proxy = FaultProxy.to("127.0.0.1", server.port());
    private final Network network = new Network(List.of(proxy));

    private static PostgresServer started() {
        try {
            return PostgresServer.start();
        } catch (Exception e) {
            throw new IllegalStateException("PostgreSQL does not start: " + e.getMessage(), e);
        }
    }

    @Override
    public String uri() {
        return server.url().replace(":" + server.port() + "/", ":" + proxy.port() + "/") + "&createTable=true";
    }

    @Override
    public String describe() {
        return "PostgreSQL at port " + server.port();
    }

    @Override
    public List<TortureFault> faults() {
        List<TortureFault> faults = new ArrayList<>(network.faultsOfOne());
        faults.add(TortureFault.of("server paused", this::pause));
        faults.add(TortureFault.of("server killed", this::kill));
        faults.add(TortureFault.of(
                "sessions ended",
                random -> execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE"
                        + " 'holdfast%'")));
        faults.add(TortureFault.of("server read-only", random -> {
            readOnly(true);
            Thread.sleep(random.nextInt(LONGEST_MILLIS));
            readOnly(false);
        }));
        faults.add(TortureFault.of("table locked", this::lockTable));
        return faults;
    }

    private void pause(Random random) throws IOException, InterruptedException {
        server.pause();
        Thread.sleep(random.nextInt(LONGEST_MILLIS));
        server.resume();
    }

    private void kill(Random random) throws IOException, InterruptedException {
        server.kill();
        Thread.sleep(random.nextInt(LONGEST_MILLIS / 2));
        try {
            server.restart();
        } catch (InterruptedException e) {
            throw e;
        } catch (Exception e) {
            throw new IOException("PostgreSQL does not start again", e);
        }
    }

    private void readOnly(boolean on) throws IOException {
        execute("ALTER SYSTEM SET default_transaction_read_only = " + on, "SELECT pg_reload_conf()");
    }

    /** As an ALTER TABLE does, or a backup. */
    private void lockTable(Random random) throws IOException, InterruptedException {
        try (Connection connection = connected();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            statement.execute("LOCK TABLE holdfast_lock IN ACCESS EXCLUSIVE MODE");
            Thread.sleep(random.nextInt(LONGEST_MILLIS));
            connection.rollback();
        } catch (SQLException e) {
            throw new IOException(e);
        }
    }

    private Connection connected() throws SQLException {
        return DriverManager.getConnection(server.url() + "&options=-c%20default_transaction_read_only=off");
    }

    private void execute(String... statements) throws IOException {
        try (Connection connection = connected();
                Statement statement = connection.createStatement()) {
            for (String each : statements) {
                statement.execute(each);
            }
        } catch (SQLException e) {
            throw new IOException(e);
        }
    }

    @Override
    public void close() {
        network.close();
        server.close();
    }
}
