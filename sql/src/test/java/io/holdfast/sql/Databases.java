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
import org.jspecify.annotations.Nullable;

/** The databases of the tests. Each starts once, when a test first asks for it, and ends with this JVM. */
final class Databases {

    static final String H2 = "jdbc:h2:mem:locks;DB_CLOSE_DELAY=-1;createTable=true";

    private static @Nullable String postgres;
    private static @Nullable String failure;

    private Databases() {}

    /** Returns the URL of PostgreSQL. Skips the test, with the reason, where this machine cannot run it. */
    static synchronized String postgres() {
        if (postgres == null && failure == null) {
            try {
                postgres = PostgresServer.start().url();
            } catch (Exception e) {
                failure = String.valueOf(e);
                // CI must show it: a skipped proof proves nothing.
                if (System.getenv("CI") != null) {
                    throw new IllegalStateException("PostgreSQL does not start", e);
                }
            }
        }
        return postgres != null ? postgres : abort("PostgreSQL does not start on this machine: " + failure);
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
