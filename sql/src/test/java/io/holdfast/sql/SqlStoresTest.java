package io.holdfast.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockStoreException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Stores that are configured in code. */
class SqlStoresTest {

    private final String url = "jdbc:h2:mem:" + UUID.randomUUID();
    private Connection keeper;

    @BeforeEach
    void open() throws SQLException {
        keeper = DriverManager.getConnection(url);
    }

    @AfterEach
    void close() throws SQLException {
        keeper.close();
    }

    @Test
    void thePasswordIsAskedForEachConnectionAndNeverShown() throws Exception {
        AtomicReference<String> password = new AtomicReference<>("first-s3cret");
        Databases.execute(
                url, "CREATE USER app PASSWORD 'first-s3cret'", "GRANT ALTER ANY SCHEMA TO app", "SET WRITE_DELAY 0");
        SqlStores.Builder store =
                SqlStores.url(url).user("app").password(password::get).createTable(true);
        try (LockClient client = LockClient.builder().store(store::open).build();
                Lease lease = client.acquire("a")) {
            assertThat(lease.fencingToken()).isPositive();
        }
        Databases.execute(url, "ALTER USER app SET PASSWORD 'second-s3cret'");
        assertThatThrownBy(() -> LockClient.builder().store(store::open).build().close())
                .isInstanceOf(LockStoreException.class)
                .hasMessageContaining("Wrong user name or password")
                .satisfies(error -> assertThat(trace(error)).doesNotContain("s3cret"));
        password.set("second-s3cret");
        LockClient.builder().store(store::open).build().close();
    }

    @Test
    void aPropertyReachesTheDriver() throws SQLException {
        Databases.execute(url, "CREATE SCHEMA locks");
        SqlStores.Builder store = SqlStores.url(url).property("SCHEMA", "LOCKS").createTable(true);
        LockClient.builder().store(store::open).build().close();
        Databases.execute(url, "DROP TABLE locks.holdfast_card");
    }

    /** A pool of the application may have it beside the URL. */
    @Test
    void aPropertyByWhichTheDriverSendsAgainIsRefused() {
        SqlStores.Builder mariaDb = SqlStores.url("jdbc:mariadb://one,two/app");
        assertThatThrownBy(() -> mariaDb.property("transactionReplay", "true"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("option transactionReplay=true: the driver would send statements again");
        mariaDb.property("transactionReplay", "false").property("sslMode", "disable");
        SqlStores.url("jdbc:mysql://one/app").property("autoReconnect", "no");
    }

    @Test
    void whatIsNoUrlIsRefusedAtOnce() {
        assertThatThrownBy(() -> SqlStores.url("postgresql://db/app"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("jdbc:postgresql://host/database");
        assertThatThrownBy(() -> SqlStores.url("jdbc:hsqldb:mem:x"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("jdbc:hsqldb");
    }

    private static String trace(Throwable error) {
        StringWriter text = new StringWriter();
        error.printStackTrace(new PrintWriter(text));
        return text.toString();
    }
}
