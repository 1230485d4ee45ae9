package io.holdfast.sql;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.testkit.servers.MariaDbServer;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What replicas receive. One that executed statements would use its own clock and its own mark, and so have other rows
 * than its primary.
 */
@Tag("deep")
class BinaryLogTest {

    private record Event(String type, String text) {}

    static Stream<Arguments> servers() {
        return Stream.of(
                Arguments.of("MariaDB", (Function<String[], MariaDbServer>) Databases::ownMariaDb),
                Arguments.of("MySQL", (Function<String[], MariaDbServer>) Databases::ownMySql));
    }

    private static MariaDbServer started(Function<String[], MariaDbServer> start) {
        return start.apply(new String[] {"server-id=1", "log-bin=log", "binlog-format=MIXED"});
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("servers")
    void a_replica_receives_rows_and_no_statements(String name, Function<String[], MariaDbServer> start)
            throws Exception {
        try (MariaDbServer server = started(start)) {
            String url = server.url() + "&createTable=true";
            use(url);
            List<Event> events;
            try (Link link = Databases.connect(server.adminUrl())) {
                new MySqlTable().purge(link, "0", "g");
                events = link.query(
                        "SHOW BINLOG EVENTS IN '" + newestLog(link) + "'",
                        row -> new Event(row.getString("Event_type"), row.getString("Info")));
            }
            assertThat(events).extracting(Event::type).anyMatch(type -> type.startsWith("Update_rows"));
            assertThat(events)
                    .filteredOn(event ->
                            event.type().equals("Query") && event.text().contains("holdfast_"))
                    .extracting(Event::text)
                    .allMatch(text -> text.contains("CREATE TABLE"));
        }
    }

    /** Takes, waits, passes on, renews, ends and takes together; permits as well. */
    private static void use(String url) throws Exception {
        try (LockClient one = Crew.client(url);
                LockClient two = Crew.client(url)) {
            Lease lease = one.acquire("log:a");
            CompletionStage<Lease> next = two.acquireAsync("log:a");
            TimeUnit.MILLISECONDS.sleep(Crew.LEASE.toMillis() / 2);
            lease.extend(Duration.ofSeconds(20));
            lease.release();
            next.toCompletableFuture().get(20, TimeUnit.SECONDS).release();
            one.acquireAll(List.of("log:b", "log:c")).release();
            one.permits("log:d", 2).acquire().release();
        }
    }

    private static String newestLog(Link link) throws SQLException {
        List<String> logs = link.query("SHOW BINARY LOGS", row -> row.getString(1));
        return logs.get(logs.size() - 1);
    }

    /** An administrator may have set the format since the server was examined, or a proxy may lead to another server. */
    @ParameterizedTest(name = "{0}")
    @MethodSource("servers")
    void nothing_is_written_where_a_replica_would_receive_statements(
            String name, Function<String[], MariaDbServer> start) throws Exception {
        try (MariaDbServer server = started(start)) {
            LockClient.connect(server.url() + "&createTable=true").close();
            try (Link link = Databases.connect(server.adminUrl())) {
                LockTable table = new MySqlTable();
                String key = LockKey.of("format");
                table.make(link, key, "format", 5);
                Row read = requireNonNull(table.read(link, key));
                link.update("SET SESSION binlog_format = STATEMENT");
                assertThatThrownBy(() -> table.take(link, key, "hf-a:1", 30_000))
                        .isInstanceOf(SQLException.class);
                assertThatThrownBy(() -> table.write(link, key, read, TableTest.hold(read, "hf-a:1"), List.of(), false))
                        .isInstanceOfSatisfying(
                                SQLException.class,
                                e -> assertThat(e.getErrorCode()).isEqualTo(1665));
            }
        }
    }
}
