package io.holdfast.testkit.torture;

import io.holdfast.testkit.servers.PgBouncer;
import io.holdfast.testkit.servers.PostgresServer;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One PostgreSQL, alone or behind a PgBouncer in transaction mode. */
final class OwnPostgres extends OwnDatabase {

    private final PostgresServer server;
    private final @Nullable PgBouncer pooler;

    private OwnPostgres(PostgresServer server, @Nullable PgBouncer pooler) {
        super(pooler == null ? server.url() : pooler.url(), pooler == null ? server.port() : pooler.port());
        this.server = server;
        this.pooler = pooler;
    }

    static OwnPostgres start() {
        return new OwnPostgres(server(), null);
    }

    static OwnPostgres startPooled() {
        PostgresServer server = server();
        try {
            return new OwnPostgres(server, PgBouncer.start(server.port()));
        } catch (IOException | InterruptedException e) {
            server.close();
            throw new IllegalStateException("PgBouncer does not start: " + e.getMessage(), e);
        }
    }

    private static PostgresServer server() {
        try {
            return PostgresServer.start();
        } catch (Exception e) {
            throw new IllegalStateException("PostgreSQL does not start: " + e.getMessage(), e);
        }
    }

    @Override
    public String describe() {
        return (pooler == null ? "" : "PgBouncer in transaction mode at port " + pooler.port() + ", before ")
                + "PostgreSQL at port " + server.port();
    }

    @Override
    public List<TortureFault> faults() {
        List<TortureFault> faults = new ArrayList<>(super.faults());
        PgBouncer between = pooler;
        if (between != null) {
            faults.add(between("pooler paused", between::pause, between::resume));
            faults.add(between("pooler killed", between::kill, between::restart));
        }
        return faults;
    }

    @Override
    void pauseServer() throws IOException, InterruptedException {
        server.pause();
    }

    @Override
    void resumeServer() throws IOException, InterruptedException {
        server.resume();
    }

    @Override
    void killServer() throws IOException, InterruptedException {
        server.kill();
    }

    @Override
    void restartServer() throws IOException, InterruptedException {
        try {
            server.restart();
        } catch (InterruptedException e) {
            throw e;
        } catch (Exception e) {
            throw new IOException("PostgreSQL does not start again", e);
        }
    }

    /** Also those of the pooler, which have no name of Holdfast. */
    @Override
    void endSessions() throws IOException {
        execute(
                admin(),
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <>"
                        + " pg_backend_pid()");
    }

    @Override
    void readOnly(boolean on) throws IOException {
        execute(admin(), "ALTER SYSTEM SET default_transaction_read_only = " + on, "SELECT pg_reload_conf()");
    }

    @Override
    Connection lockedTable() throws SQLException {
        return open(admin(), "LOCK TABLE holdfast_lock IN ACCESS EXCLUSIVE MODE");
    }

    private String admin() {
        return server.url() + "&options=-c%20default_transaction_read_only=off";
    }

    @Override
    public void close() {
        super.close();
        if (pooler != null) {
            pooler.close();
        }
        server.close();
    }
}
