package io.holdfast.jdbc;

import io.holdfast.Lease;
import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Collection;
import java.util.function.Supplier;
import java.util.logging.Logger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** A data source whose connections check the leases of the calling thread. Thread-safe. */
final class GuardedDataSource implements DataSource {

    private final DataSource target;
    private final JdbcGuard guard;
    private final Supplier<? extends Collection<? extends Lease>> leases;

    GuardedDataSource(DataSource target, JdbcGuard guard, Supplier<? extends Collection<? extends Lease>> leases) {
        this.target = target;
        this.guard = guard;
        this.leases = leases;
    }

    @Override
    public Connection getConnection() throws SQLException {
        return guarded(target.getConnection());
    }

    @Override
    public Connection getConnection(String user, String password) throws SQLException {
        return guarded(target.getConnection(user, password));
    }

    /** A connection of a data source that routes to guarded ones is guarded already. */
    private Connection guarded(Connection connection) throws SQLException {
        return connection.isWrapperFor(GuardedConnection.Marker.class)
                ? connection
                : GuardedConnection.of(connection, this, guard, leases);
    }

    @Override
    public PrintWriter getLogWriter() throws SQLException {
        return target.getLogWriter();
    }

    @Override
    public void setLogWriter(@Nullable PrintWriter writer) throws SQLException {
        target.setLogWriter(writer);
    }

    @Override
    public void setLoginTimeout(int seconds) throws SQLException {
        target.setLoginTimeout(seconds);
    }

    @Override
    public int getLoginTimeout() throws SQLException {
        return target.getLoginTimeout();
    }

    @Override
    public Logger getParentLogger() {
        return Logger.getLogger("io.holdfast.jdbc");
    }

    @Override
    public <T> T unwrap(Class<T> type) throws SQLException {
        return type.isInstance(target) ? type.cast(target) : target.unwrap(type);
    }

    @Override
    public boolean isWrapperFor(Class<?> type) throws SQLException {
        return type.isInstance(target) || target.isWrapperFor(type);
    }
}
