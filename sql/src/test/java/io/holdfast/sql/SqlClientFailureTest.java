package io.holdfast.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.testkit.servers.ChildJvm;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A client that is killed or stopped while it holds a lock, or while it guards a transaction. */
@Tag("deep")
class SqlClientFailureTest {

    private final String name = "client:" + UUID.randomUUID();

    /** A process that holds a lock. It writes a line when it has the lock, and another when the lock is lost. */
    static final class Holder {

        private Holder() {}

        public static void main(String[] args) throws InterruptedException {
            LockClient client = Crew.client(args[0]);
            Lease lease = client.acquire(args[1]);
            lease.onLost(() -> System.out.println("lost"));
            System.out.println(lease.fencingToken());
            Thread.currentThread().join();
        }
    }

    private static Process start(String url, String name) throws IOException {
        return ChildJvm.command(Holder.class.getName(), url, name)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
    }

    @ParameterizedTest
    @EnumSource(names = "H2", mode = EnumSource.Mode.EXCLUDE)
    void a_killed_client_keeps_the_lock_until_its_lease_ends(SqlSettings.Kind kind) throws Exception {
        String url = Databases.url(kind);
        Process holder = start(url, name);
        try (LockClient other = Crew.client(url);
                BufferedReader out = holder.inputReader(StandardCharsets.UTF_8)) {
            long token = Long.parseLong(out.readLine());
            CompletableFuture<Lease> next = other.acquireAsync(name).toCompletableFuture();
            holder.destroyForcibly().waitFor();
            Lease lease = next.get(30, TimeUnit.SECONDS);
            assertThat(lease.fencingToken()).isGreaterThan(token);
            lease.release();
        } finally {
            holder.destroyForcibly();
        }
    }

    @ParameterizedTest
    @EnumSource(names = "H2", mode = EnumSource.Mode.EXCLUDE)
    void a_stopped_client_hears_of_its_loss_when_it_runs_again(SqlSettings.Kind kind) throws Exception {
        String url = Databases.url(kind);
        Process holder = start(url, name);
        try (LockClient other = Crew.client(url);
                BufferedReader out = holder.inputReader(StandardCharsets.UTF_8)) {
            long token = Long.parseLong(out.readLine());
            ChildJvm.signal("STOP", holder.pid());
            Lease lease = other.acquireAsync(name).toCompletableFuture().get(30, TimeUnit.SECONDS);
            assertThat(lease.fencingToken()).isGreaterThan(token);
            ChildJvm.signal("CONT", holder.pid());
            assertThat(out.readLine()).isEqualTo("lost");
            assertThat(lease.isValid()).isTrue();
            lease.release();
        } finally {
            holder.destroyForcibly();
        }
    }

    /** The guard keeps everybody from the lock for as long as the transaction is open: the server's limit ends it. */
    @Test
    void a_forgotten_transaction_under_a_guard_ends_by_the_limit_of_the_server() throws Exception {
        String url = Databases.url(SqlSettings.Kind.POSTGRESQL);
        String data = Databases.postgres() + "&options=-c%20idle_in_transaction_session_timeout=3s";
        try (LockClient holder = Crew.client(url);
                LockClient other = Crew.client(url);
                Connection connection = DriverManager.getConnection(data)) {
            connection.setAutoCommit(false);
            Lease lease = holder.acquire(name, LockOptions.defaults().leaseFor(Duration.ofSeconds(1)));
            SqlGuard.check(connection, lease);
            CompletableFuture<Lease> next = other.acquireAsync(name).toCompletableFuture();
            await().atMost(Duration.ofSeconds(20)).until(() -> !lease.isValid());
            assertThat(next).isNotDone();
            next.get(30, TimeUnit.SECONDS).release();
            assertThatThrownBy(connection::commit).isInstanceOf(SQLException.class);
        }
    }
}
