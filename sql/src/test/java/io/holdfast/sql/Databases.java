package io.holdfast.sql;

import static org.junit.jupiter.api.Assumptions.abort;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.TimeSource;
import io.holdfast.testkit.servers.MariaDbServer;
import io.holdfast.testkit.servers.PgBouncer;
import io.holdfast.testkit.servers.PostgresServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.EnumMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The databases of the tests. Each starts once, when a test first asks for it, and ends with this JVM. */
final class Databases {

    static final String H2 = "jdbc:h2:mem:locks;DB_CLOSE_DELAY=-1;createTable=true";

    private static final Map<SqlSettings.Kind, String> STARTED = new EnumMap<>(SqlSettings.Kind.class);
    private static final Map<SqlSettings.Kind, String> FAILURES = new EnumMap<>(SqlSettings.Kind.class);

    private static @Nullable PgBouncer pooler;

    private interface Start<S> {
        S run() throws Exception;
    }

    private Databases() {}

    /** Returns what makes the store's connections to that database. */
    static Connecting connecting(String url, TimeSource time) {
        SqlSettings settings = SqlSettings.parse(url, DriverProperties.none());
        StoreContext context = new StoreContext("hf-test", time);
        return new Connecting(Drivers.find(settings), settings, context, new SqlErrors(settings));
    }

    /** Returns a connection to that database, as the store makes it. */
    static Link connect(String url) {
        return connecting(url, TimeSource.system()).connect();
    }

    /** Returns the URL of PostgreSQL. Skips the test, with the reason, where this machine cannot run it. */
    static String postgres() {
        return started(SqlSettings.Kind.POSTGRESQL, () -> PostgresServer.start().url());
    }

    /** Starts a PostgreSQL of the test's own, which it may kill. Skips the test as {@link #postgres} does. */
    static PostgresServer ownPostgres(String... settings) {
        return own(SqlSettings.Kind.POSTGRESQL, () -> PostgresServer.start(settings));
    }

    /** Starts a pooler of the test's own before that PostgreSQL. Skips the test where there is none. */
    static PgBouncer ownPgBouncer() {
        return ownPgBouncer(URI.create(postgres().substring("jdbc:".length())).getPort());
    }

    /**
     * Starts a pooler of the test's own. Skips the test where there is none.
     *
     * @param server the port of the PostgreSQL behind it
     */
    static PgBouncer ownPgBouncer(int server) {
        assumeTrue(PgBouncer.isInstalled(), "There is no PgBouncer (expected: HOLDFAST_PGBOUNCER=/path/to/pgbouncer)");
        try {
            return PgBouncer.start(server);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Returns the URL of PostgreSQL behind a pooler. Skips the test as {@link #ownPgBouncer} does. */
    static synchronized String pgBouncer() {
        PgBouncer known = pooler;
        if (known == null) {
            known = ownPgBouncer();
            pooler = known;
        }
        return known.url();
    }

    /** Returns the URL of MariaDB with its own driver. Skips the test as {@link #postgres} does. */
    static String mariaDb() {
        return started(SqlSettings.Kind.MARIADB, () -> MariaDbServer.start().adminUrl());
    }

    /** Starts a MariaDB of the test's own, which it may kill. Skips the test as {@link #postgres} does. */
    static MariaDbServer ownMariaDb(String... settings) {
        return own(SqlSettings.Kind.MARIADB, () -> MariaDbServer.start(settings));
    }

    /** Starts a MySQL of the test's own, which it may kill. Skips the test where there is none. */
    static MariaDbServer ownMySql(String... settings) {
        try {
            return MariaDbServer.startMySql(settings);
        } catch (IOException e) {
            return abort("MySQL does not start on this machine: " + e.getMessage());
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /**
     * Returns a URL for MySQL's driver: of the MySQL that the environment variable HOLDFAST_MYSQL names, otherwise of
     * the one in a jar. Where that one does not run, for lack of the library libaio, of MariaDB.
     */
    static String mySql() {
        String given = System.getenv("HOLDFAST_MYSQL");
        return given != null ? given : started(SqlSettings.Kind.MYSQL, Databases::mySqlOrMariaDb);
    }

    private static String mySqlOrMariaDb() throws InterruptedException {
        try {
            return MariaDbServer.startMySql().adminUrl();
        } catch (IOException e) {
            System.err.println("MariaDB takes the place of MySQL, which does not start: " + e.getMessage());
            return mariaDb().replace("jdbc:mariadb:", "jdbc:mysql:").replace("sslMode=disable", "sslMode=DISABLED");
        }
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
