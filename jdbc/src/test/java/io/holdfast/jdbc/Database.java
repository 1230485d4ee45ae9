package io.holdfast.jdbc;

import static org.junit.jupiter.api.Assumptions.abort;

import com.mysql.cj.jdbc.MysqlDataSource;
import io.holdfast.testkit.servers.MariaDbServer;
import io.holdfast.testkit.servers.PostgresServer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Locale;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;
import org.jspecify.annotations.Nullable;
import org.mariadb.jdbc.MariaDbDataSource;
import org.postgresql.ds.PGSimpleDataSource;

/** The databases of the tests. Each starts once, when a test first asks for it, and ends with this JVM. */
@SuppressWarnings("ImmutableEnumChecker") // a server is started once
enum Database {
    POSTGRESQL {
        @Override
        String start() throws Exception {
            return PostgresServer.start().url();
        }
    },
    MARIADB {
        @Override
        String start() throws Exception {
            return MariaDbServer.start().adminUrl();
        }
    },
    /** Only of the deep build, and where the library libaio is. */
    MYSQL {
        @Override
        String start() throws Exception {
            return MariaDbServer.startMySql().adminUrl();
        }
    },
    H2 {
        @Override
        String start() {
            return "jdbc:h2:mem:guarded;DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=20000";
        }
    };

    private @Nullable String url;
    private @Nullable Exception failure;

    /** Returns the address of its server, or where this machine cannot run the server. */
    abstract String start() throws Exception;

    /** Returns a new connection. Skips the test, with the reason, where this machine cannot run the server. */
    Connection connect() throws SQLException {
        return DriverManager.getConnection(url());
    }

    /** Returns its address, with everything that a connection needs. */
    synchronized String url() {
        if (this == MYSQL && Boolean.getBoolean("holdfast.quick")) {
            return abort("MySQL is started by the deep build (-Pdeep)");
        }
        if (url == null && failure == null) {
            try {
                url = start();
            } catch (Exception e) {
                failure = e;
                // CI must show it: a skipped proof proves nothing.
                if (System.getenv("CI") != null) {
                    throw new IllegalStateException(this + " does not start", e);
                }
            }
        }
        return url != null ? url : abort(this + " does not start on this machine: " + failure);
    }

    /** Sets the longest wait for the lock on a row. */
    void lockTimeout(Connection connection, int seconds) throws SQLException {
        execute(
                connection,
                switch (this) {
                    case POSTGRESQL -> "SET lock_timeout = '" + seconds + "s'";
                    case MARIADB, MYSQL -> "SET innodb_lock_wait_timeout = " + seconds;
                    case H2 -> "SET LOCK_TIMEOUT " + seconds * 1000;
                });
    }

    /** Returns a data source of new connections. Skips the test as {@link #connect} does. */
    DataSource source() throws SQLException {
        switch (this) {
            case POSTGRESQL -> {
                PGSimpleDataSource source = new PGSimpleDataSource();
                source.setUrl(url());
                return source;
            }
            case MARIADB -> {
                return new MariaDbDataSource(url());
            }
            case MYSQL -> {
                MysqlDataSource source = new MysqlDataSource();
                source.setUrl(url());
                return source;
            }
            default -> {
                JdbcDataSource source = new JdbcDataSource();
                source.setURL(url());
                return source;
            }
        }
    }

    /** Returns an interval, as it is written in a statement. */
    String interval(int count, String unit) {
        return "INTERVAL " + (this == MARIADB || this == MYSQL ? count + " " : "'" + count + "' ") + unit;
    }

    static void execute(Connection connection, String... statements) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            for (String sql : statements) {
                statement.execute(sql);
            }
        }
    }

    @Override
    public String toString() {
        return name().charAt(0) + name().substring(1).toLowerCase(Locale.ROOT);
    }
}
