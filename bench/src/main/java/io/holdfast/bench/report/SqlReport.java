package io.holdfast.bench.report;

import static io.holdfast.bench.report.Page.columns;

import io.holdfast.bench.report.Page.Table;
import java.util.List;
import java.util.Set;

/** The page about a run on PostgreSQL. */
public final class SqlReport extends GoalLines {

    private static final String US = "holdfast";
    private static final String WATCHING = "holdfast, notify=false";
    private static final String SHEDLOCK = "shedlock";
    private static final String REGISTRY = "JdbcLockRegistry";

    private final Results results;

    private SqlReport(Results results) {
        this.results = results;
    }

    /** Writes the page. */
    public static String of(Results results, String fact) {
        Page page = new Page(results);
        page.line("""
                # Benchmarks: a database

                This page compares Holdfast's SQL store with ShedLock's provider for a `JdbcTemplate` and Spring Integration's
                `JdbcLockRegistry`, each on a pool of HikariCP, on one PostgreSQL that writes each commit through to the disk. Ratios
                are medians of ratios within a turn; a cell is the median (least–most). `bench/run --only sql` writes this page.
                Statements are those that the server counts, with `BEGIN` and `COMMIT`.
                """);
        page.line(fact + "\n");
        page.goals(new SqlReport(results).lines());
        page.line("""
                ## What limits them?

                - **Statements for each acquisition.** A client that has passed a lock on and comes back at once needs three. It appends
                  itself to the queue. Its release finds that somebody waits, and returns the row; then a write passes the lock on. A client
                  that comes later needs a fourth: its first attempt to take the lock, which finds the lock held. A write that finds its row
                  changed costs one more: a statement that waits until the other transaction has ended, and then reads the row.
                - **Threads with a name each.** Takes that come while the connection is busy go together in one statement, and so do
                  releases. So eight threads need fewer than two statements a pair, and wait for the disk together.
                - **A client 10 ms away.** It gets its turn while it waits. But one round trip passes from its release until it waits again.
                  Meanwhile the three near ones pass the lock on among themselves. If they need h ms each time, the far one gets at most
                  1 / (1 + 10 / 3h) of each one's share: 0.40 with 2.2 ms, 0.5 only with 3.3 ms or more.
                - **Rows written.** A hold is renewed each third of its lease. So 10,000 holds with a lease of 60 s write 500 rows a second.
                  To write only 200, the client would have to renew each hold after 50 s, not 20 s. An outage of the database that begins just
                  before the renewal would then end the hold after 10 s, not 40 s.
                """);
        tables().forEach(page::table);
        page.notes();
        return page.text();
    }

    private List<Line> lines() {
        atMost("time of a pair, free lock, × ShedLock", 0.75, pair(1, SHEDLOCK));
        atMost("time of a pair, free lock, × JdbcLockRegistry", 0.7, pair(1, REGISTRY));
        atMost("8 threads: time of a pair, × ShedLock", 1.2, pair(8, SHEDLOCK));
        inform("8 threads: time of a pair, × JdbcLockRegistry", pair(8, REGISTRY));
        Set<Integer> processes = results.sizes("sql-contended");
        double most = Double.NaN;
        double least = Double.NaN;
        for (int each : processes) {
            double statements = contended(each, US, "statements");
            most = Double.isNaN(most) ? statements : Math.max(most, statements);
            least = Double.isNaN(least) ? statements : Math.min(least, statements);
            atMost(each + " processes: statements an acquisition", 3.5, statements);
            atMost(each + " processes: hand-off by NOTIFY, p50, ms", 5, contended(each, US, "handoffP50ms"));
            atLeast(each + " processes: hand-offs a second without NOTIFY", 35, contended(each, WATCHING, "handoffs"));
            inform(each + " processes: hand-offs a second, JdbcLockRegistry", contended(each, REGISTRY, "handoffs"));
            atMost(each + " processes: connections a process", 3, contended(each, US, "sessions"));
        }
        atMost("statements an acquisition, most / least over the processes", 1.25, most / least);
        for (int pairs : results.sizes("sql-snapshot")) {
            double factor = results.median("sql-snapshot", pairs, US, "factor");
            if (known(factor)) {
                atMost(pairs + " pairs while a snapshot is open: last / first", 1.5, factor);
            }
            for (String peer : List.of(SHEDLOCK, REGISTRY)) {
                double others = results.median("sql-snapshot", pairs, peer, "factor");
                if (known(others)) {
                    inform(pairs + " pairs while a snapshot is open: last / first, " + peer, others);
                }
            }
        }
        for (int writes : results.sizes("sql-queue")) {
            atMost(
                    writes + " writes of a queue while a snapshot is open: last / first",
                    10,
                    results.median("sql-queue", writes, US, "factor"));
        }
        for (int clients : results.sizes("sql-far")) {
            atLeast(
                    "a client 10 ms away: acquisitions, × each of " + (clients - 1) + " near ones",
                    0.5,
                    results.median("sql-far", clients, US, "farShare"));
            inform(
                    "a client 10 ms away: acquisitions, × each near one, JdbcLockRegistry",
                    results.median("sql-far", clients, REGISTRY, "farShare"));
        }
        for (int held : results.sizes("sql-held")) {
            atMost(held + " held: rows written a second", 200, results.median("sql-held", held, US, "rowsPerSecond"));
            atMost(held + " held: connections", 3, results.median("sql-held", held, US, "sessions"));
        }
        return made();
    }

    private double pair(int threads, String peer) {
        return results.ratio("sql-pair", threads, "p50us", US, peer);
    }

    private double contended(int processes, String peer, String figure) {
        return results.median("sql-contended", processes, peer, figure);
    }

    private static List<Table> tables() {
        String[] contended = {
            "rate", "acquisitions/s",
            "statements", "statements/acq.",
            "walBytes", "WAL bytes/acq.",
            "handoffP50ms", "hand-off p50 ms",
            "handoffs", "hand-offs/s",
            "longestWaitMs", "longest wait ms",
            "sessions", "connections a process"
        };
        String[] series = {"firstUs", "first µs", "lastUs", "last µs", "factor", "last / first"};
        return List.of(
                new Table(
                        "sql-pair",
                        "Pairs of a free lock, a name for each thread",
                        "threads",
                        columns(
                                "rate",
                                "pairs/s",
                                "p50us",
                                "p50 µs",
                                "statements",
                                "statements/pair",
                                "walBytes",
                                "WAL bytes/pair",
                                "sessions",
                                "connections")),
                new Table(
                        "sql-contended",
                        "Processes × 1 thread, one name, empty section",
                        "processes",
                        columns(contended)),
                new Table(
                        "sql-far",
                        "Clients of one thread on one name, the last one 10 ms away",
                        "clients",
                        columns(
                                "rate", "acquisitions/s",
                                "farShare", "of the one away, × each near one",
                                "farWaitMs", "its longest wait ms",
                                "longestWaitMs", "longest wait ms")),
                new Table(
                        "sql-snapshot",
                        "Pairs on one name while the snapshot of another transaction is open",
                        "pairs",
                        columns(
                                "firstUs",
                                "first µs",
                                "lastUs",
                                "last µs",
                                "factor",
                                "last / first",
                                "statements",
                                "statements/pair")),
                new Table(
                        "sql-queue",
                        "Writes of the queue of one hold while the snapshot of another transaction is open",
                        "writes",
                        columns(series)),
                new Table(
                        "sql-held",
                        "Held with a lease of 60 s",
                        "held",
                        columns(
                                "rowsPerSecond",
                                "rows written/s",
                                "statementsPerSecond",
                                "statements/s",
                                "walPerSecond",
                                "WAL bytes/s",
                                "heapPerLock",
                                "client heap B/lock",
                                "sessions",
                                "connections",
                                "lost",
                                "lost")));
    }
}
