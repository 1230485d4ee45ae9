package io.holdfast.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.holdfast.LockClient;
import io.holdfast.LockStoreException;
import io.holdfast.testkit.servers.PostgresServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A PostgreSQL that fails, and its administrator's limits. */
@Tag("deep")
class SqlFailureTest extends FailingDatabase {

    private static PostgresServer server;

    @BeforeAll
    static void start() {
        server = Databases.ownPostgres("deadlock_timeout=500ms");
    }

    @AfterAll
    static void end() {
        if (server != null) {
            server.close();
        }
    }

    @Override
    String url() {
        return server.url();
    }

    @Override
    String adminUrl() {
        return url() + "&options=-c%20statement_timeout=20s%20-c%20default_transaction_read_only=off";
    }

    @Override
    int port() {
        return server.port();
    }

    @Override
    void kill() throws Exception {
        server.kill();
    }

    @Override
    void restart() throws Exception {
        server.restart();
    }

    @Override
    void pause() throws Exception {
        server.pause();
    }

    @Override
    void resume() throws Exception {
        server.resume();
    }

    @Override
    void endSessions() throws SQLException {
        Databases.execute(
                adminUrl(),
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'holdfast%'");
    }

    @Override
    void readOnly(boolean on) throws SQLException {
        Databases.execute(
                adminUrl(), "ALTER SYSTEM SET default_transaction_read_only = " + on, "SELECT pg_reload_conf()");
    }

    @Override
    Connection lockedTable() throws SQLException {
        return TableTest.foreign(adminUrl(), "LOCK TABLE holdfast_lock IN ACCESS EXCLUSIVE MODE");
    }

    @Override
    long deadlocks() throws SQLException {
        return numbers("SELECT sum(deadlocks)::BIGINT FROM pg_stat_database").get(0);
    }

    /** Who has waited for so long looks for a deadlock, and gives way. */
    @Override
    List<String> toSurviveADeadlock() {
        return List.of("SET LOCAL deadlock_timeout = '20s'");
    }

    /** An administrator's limits are for applications that forget a transaction or a session; a lock needs its own. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "statement_timeout = '1ms'",
                "lock_timeout = '1ms'",
                "idle_in_transaction_session_timeout = '1ms'",
                "idle_session_timeout = '300ms'"
            })
    void a_low_limit_of_the_administrator_does_no_harm(String limit) throws Exception {
        Databases.execute(adminUrl(), "ALTER ROLE test SET " + limit);
        try (LockClient client = Crew.client(url());
                Kept kept = new Kept(url());
                Crew crew = new Crew(url())) {
            crew.awaitProgress();
            Thread.sleep(1_000);
            // The first command after a while, on a free lock: nobody is there to try again.
            client.tryAcquire("free:" + UUID.randomUUID()).orElseThrow().release();
            crew.awaitProgress();
            assertThat(crew.errors()).isEmpty();
            kept.assertKept();
        } finally {
            Databases.execute(adminUrl(), "ALTER ROLE test RESET ALL");
        }
    }

    /** Of a small file system of its own, with the table. Skipped where nobody may mount one. */
    @Test
    void a_full_disk_refuses_new_names_and_keeps_the_holds() throws Exception {
        Path disk = Files.createTempDirectory("holdfast-disk-");
        assumeTrue(
                run("mount", "-t", "tmpfs", "-o", "size=1m,uid=65534", "tmpfs", disk.toString()),
                "no small file system can be mounted here");
        try (LockClient client = Crew.client(url());
                Kept kept = new Kept(url());
                Crew crew = new Crew(url())) {
            Databases.execute(
                    adminUrl(),
                    "CREATE TABLESPACE small LOCATION '" + disk + "'",
                    "ALTER TABLE holdfast_lock SET TABLESPACE small");
            Path filler = disk.resolve("filler");
            assertThatThrownBy(() -> Files.write(filler, new byte[2_000_000])).isInstanceOf(IOException.class);
            assertThatThrownBy(() -> {
                        while (true) {
                            client.tryAcquire(UUID.randomUUID().toString()).orElseThrow();
                        }
                    })
                    .isInstanceOf(LockStoreException.class)
                    .hasMessageContainingAll("did not execute a command", "No space left on device");
            crew.awaitProgress();
            Files.delete(filler);
            client.acquire(UUID.randomUUID().toString()).release();
            crew.awaitProgress();
            kept.assertKept();
            Databases.execute(
                    adminUrl(), "ALTER TABLE holdfast_lock SET TABLESPACE pg_default", "DROP TABLESPACE small");
        } finally {
            // Lazily: after a failure the server still has its files open.
            assertThat(run("umount", "--lazy", disk.toString())).isTrue();
        }
    }

    private static boolean run(String... command) throws IOException, InterruptedException {
        return new ProcessBuilder(command)
                        .redirectErrorStream(true)
                        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                        .start()
                        .waitFor()
                == 0;
    }

    @Test
    void our_idle_sessions_are_not_ended() throws Exception {
        Databases.execute(adminUrl(), "ALTER ROLE test SET idle_session_timeout = '300ms'");
        try (Kept kept = new Kept(url())) {
            List<Long> before = sessions();
            Thread.sleep(1_500);
            assertThat(before).hasSizeGreaterThan(1);
            assertThat(sessions()).containsAll(before);
            kept.assertKept();
        } finally {
            Databases.execute(adminUrl(), "ALTER ROLE test RESET ALL");
        }
    }

    private List<Long> sessions() throws SQLException {
        return numbers("SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'holdfast%'");
    }

    private List<Long> numbers(String question) throws SQLException {
        List<Long> numbers = new ArrayList<>();
        try (Connection connection = DriverManager.getConnection(adminUrl());
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(question)) {
            while (rows.next()) {
                numbers.add(rows.getLong(1));
            }
        }
        return numbers;
    }
}
