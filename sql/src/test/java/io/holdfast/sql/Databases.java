package io.holdfast.sql;

import static org.junit.jupiter.api.Assumptions.abort;

import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreContext;
import io.holdfast.testkit.servers.PostgresServer;
import java.net.URI;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.EnumMap;
import java.util.Map;

/** The databases of the tests. Each starts once, when a test first asks for it, and ends with this JVM. */
final class Databases {

    static final String H2 = "jdbc:h2:mem:locks;DB_CLOSE_DELAY=-1;createTable=true";

    private static final Map<SqlSettings.Kind, String> STARTED = new EnumMap<>(SqlSettings.Kind.class);
    private static final Map<SqlSettings.Kind, String> FAILURES = new EnumMap<>(SqlSettings.Kind.class);

    private interface Start<S> {
        S run() throws Exception;
    }

    private Databases() {}

    /** Returns the URL of PostgreSQL. Skips the test, with the reason, where this machine cannot run it. */
    static String postgres() {
        return started(SqlSettings.Kind.POSTGRESQL, () -> PostgresServer.start().url());
    }

    /** Starts a PostgreSQL of the test's own, which it may kill. Skips the test as {@link #postgres} does. */
    static PostgresServer ownPostgres(String... settings) {
        return own(SqlSettings.Kind.POSTGRESQL, () -> PostgresServer.start(settings));
    }

    /** Returns the URL of MariaDB with its own driver. Skips the test as {@link #postgres} does. */
    static String mariaDb() {
        return started(SqlSettings.Kind.MARIADB, () -> new MariaDbServer().rootUrl());
    }

    /** Starts a MariaDB of the test's own, which it may kill. Skips the test as {@link #postgres} does. */
    static MariaDbServer ownMariaDb() {
        return own(SqlSettings.Kind.MARIADB, MariaDbServer::new);
    }

    /**
     * Returns a URL for MySQL's driver: of the MySQL that the environment variable HOLDFAST_MYSQL names, otherwise of
     * MariaDB.
     */
    static String mySql() {
        String given = System.getenv("HOLDFAST_MYSQL");
        return given != null
                ? given
                : mariaDb().replace("jdbc:mariadb:", "jdbc:mysql:").replace("sslMode=disable", "sslMode=DISABLED");
    }

    /** Returns the URL of a database, where the store makes its tables. */
    static String url(SqlSettings.Kind kind) {
        return switch (kind) {
            case POSTGRESQL -> postgres() + "&createTable=true";
            case MARIADB -> mariaDb() + "&createTable=true";
            case MYSQL -> mySql() + "&createTable=true";
            case H2 -> H2;
        };
    }

    private static synchronized String started(SqlSettings.Kind kind, Start<String> start) {
        String failure = FAILURES.get(kind);
        if (failure != null) {
            return abort(failure);
        }
        return STARTED.computeIfAbsent(kind, each -> own(each, start));
    }

    private static <S> S own(SqlSettings.Kind kind, Start<S> start) {
        try {
            return start.run();
        } catch (Exception e) {
            // CI must show it: a skipped proof proves nothing.
            if (System.getenv("CI") != null) {
                throw new IllegalStateException(kind + " does not start", e);
            }
            String failure = kind + " does not start on this machine: " + e;
            FAILURES.put(kind, failure);
            return abort(failure);
        }
    }

    static LockStore open(String url, StoreContext context) {
        return new SqlLockStoreProvider().open(URI.create(url), context);
    }

    static void execute(String url, String... statements) throws SQLException {
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement()) {
            for (String sql : statements) {
                statement.execute(sql);
            }
        }
    }
}
