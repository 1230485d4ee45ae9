package io.holdfast.testkit.torture;

import io.holdfast.testkit.faults.FaultProxy;
import java.io.IOException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** One database behind a proxy. It keeps what it has committed, so no fault is excused. */
abstract class OwnDatabase implements TortureServers {

    private static final int LONGEST_MILLIS = 4_000;

    private final int port;
    private final String url;
    private final FaultProxy proxy;
    private final Network network;

    /**
     * A database that runs.
     *
     * @param url for the workers, with this port
     */
    OwnDatabase(String url, int port) {
        this.url = url;
        this.port = port;
        proxy = FaultProxy.to("127.0.0.1", port);
        network = new Network(List.of(proxy));
    }

    abstract void pauseServer() throws IOException, InterruptedException;

    abstract void resumeServer() throws IOException, InterruptedException;

    abstract void killServer() throws IOException, InterruptedException;

    abstract void restartServer() throws IOException, InterruptedException;

    /** Ends the sessions of all workers. */
    abstract void endSessions() throws IOException;

    abstract void readOnly(boolean on) throws IOException;

    /** Keeps everybody from the table of locks, as an ALTER TABLE or a backup does, until the connection is closed. */
    abstract Connection lockedTable() throws SQLException;

    @Override
    public final String uri() {
        return url.replace(":" + port + "/", ":" + proxy.port() + "/") + "&createTable=true";
    }

    @Override
    public List<TortureFault> faults() {
        List<TortureFault> faults = new ArrayList<>(network.faultsOfOne());
        faults.add(between("server paused", this::pauseServer, this::resumeServer));
        faults.add(between("server killed", this::killServer, this::restartServer));
        faults.add(TortureFault.of("sessions ended", random -> endSessions()));
        faults.add(between("server read-only", () -> readOnly(true), () -> readOnly(false)));
        faults.add(TortureFault.of("table locked", this::lockTable));
        return faults;
    }

    /** A part of a fault. */
    interface Step {
        void run() throws IOException, InterruptedException;
    }

    /** Returns a fault that lasts for a random time between its begin and its end. */
    static TortureFault between(String name, Step begin, Step end) {
        return TortureFault.of(name, random -> {
            begin.run();
            Thread.sleep(random.nextInt(LONGEST_MILLIS));
            end.run();
        });
    }

    private void lockTable(Random random) throws IOException, InterruptedException {
        try (Connection locking = lockedTable()) {
            Thread.sleep(random.nextInt(LONGEST_MILLIS));
            locking.rollback();
        } catch (SQLException e) {
            throw new IOException(e);
        }
    }

    /** Returns a transaction that has executed a statement. */
    static Connection open(String url, String statement) throws SQLException {
        Connection connection = DriverManager.getConnection(url);
        try (Statement execution = connection.createStatement()) {
            connection.setAutoCommit(false);
            execution.execute(statement);
            return connection;
        } catch (SQLException e) {
            connection.close();
            throw e;
        }
    }

    static void execute(String url, String... statements) throws IOException {
        try (Connection connection = DriverManager.getConnection(url);
                Statement execution = connection.createStatement()) {
            for (String each : statements) {
                execution.execute(each);
            }
        } catch (SQLException e) {
            throw new IOException(e);
        }
    }

    @Override
    public void close() {
        network.close();
    }
}
