package io.holdfast.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.spi.AcquireReply;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.ReleaseReply;
import io.holdfast.spi.ReleaseRequest;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.TimeSource;
import io.holdfast.testkit.servers.PostgresServer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** How many statements a command takes, as PostgreSQL counts them. */
class StatementCountTest {

    private static final long LEASE_MILLIS = 30_000;

    private static PostgresServer server;
    private static int names;

    private final String name = "counted:" + names++;
    private Connection counting;
    private LockStore a;
    private LockStore b;

    @BeforeAll
    static void start() throws SQLException {
        server = Databases.ownPostgres("shared_preload_libraries=pg_stat_statements");
        Databases.execute(server.url(), "CREATE EXTENSION pg_stat_statements");
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @BeforeEach
    void open() throws Exception {
        counting = DriverManager.getConnection(server.url());
        a = store("hf-a" + names);
        b = store("hf-b" + names);
        // The first use of a name makes its row.
        take("hf-a" + names + ":0", a);
        release(a, "hf-a" + names + ":0");
    }

    @AfterEach
    void close() throws SQLException {
        a.close();
        b.close();
        counting.close();
    }

    @Test
    void anAcquireAndAReleaseOfAFreeLockTakeOneEach() throws Exception {
        long before = count();
        take("hf-a:1", a);
        assertThat(count() - before).isEqualTo(1);
        release(a, "hf-a:1");
        assertThat(count() - before).isEqualTo(2);
    }

    @Test
    void anAcquireThatBeginsToWaitTakesTwo() throws Exception {
        take("hf-a:1", a);
        long before = count();
        wait(b, "hf-b:1");
        assertThat(count() - before).isEqualTo(2);
    }

    /** The first one finds that somebody waits, and answers with the row. */
    @Test
    void aReleaseThatPassesTheLockOnTakesTwo() throws Exception {
        take("hf-a:1", a);
        wait(b, "hf-b:1");
        long before = count();
        release(a, "hf-a:1");
        assertThat(count() - before).isEqualTo(2);
        assertThat(get(b.inspect(name)).holder()).isEqualTo("hf-b:1");
    }

    /** It knows the row, as it has just written it. Not if it was slow, so several rounds may be needed. */
    @Test
    void aClientThatComesBackBeginsToWaitByOne() throws Exception {
        long fewest = Long.MAX_VALUE;
        for (int i = 0; i < 30 && fewest > 1; i++) {
            take("hf-a:1" + i, a);
            wait(b, "hf-b:1" + i);
            release(a, "hf-a:1" + i);
            long before = count();
            wait(a, "hf-a:2" + i);
            fewest = Math.min(fewest, count() - before);
            release(b, "hf-b:1" + i);
            release(a, "hf-a:2" + i);
        }
        assertThat(fewest).isEqualTo(1);
    }

    private LockStore store(String client) {
        return Databases.open(server.url() + "&createTable=true", new StoreContext(client, TimeSource.system()));
    }

    private void take(String holderId, LockStore store) throws Exception {
        assertThat(get(store.acquire(AcquireRequest.once(name, holderId, LEASE_MILLIS))))
                .isInstanceOf(AcquireReply.Granted.class);
    }

    private void wait(LockStore store, String holderId) throws Exception {
        assertThat(get(store.acquire(AcquireRequest.queueing(name, holderId, LEASE_MILLIS, 5_000))))
                .isInstanceOf(AcquireReply.Busy.class);
    }

    private void release(LockStore store, String holderId) throws Exception {
        assertThat(get(store.release(ReleaseRequest.of(name, holderId)))).isEqualTo(ReleaseReply.released());
    }

    private static <T> T get(CompletionStage<T> stage) throws Exception {
        return stage.toCompletableFuture().get(20, TimeUnit.SECONDS);
    }

    private long count() throws SQLException {
        try (Statement statement = counting.createStatement();
                ResultSet row = statement.executeQuery("SELECT sum(calls) FROM pg_stat_statements WHERE query LIKE"
                        + " '%holdfast_lock%' AND query NOT LIKE '%pg_stat_statements%'")) {
            row.next();
            return row.getLong(1);
        }
    }
}
