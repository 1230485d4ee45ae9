package io.holdfast.bench.report;

import static io.holdfast.bench.report.Page.columns;

import io.holdfast.bench.report.Page.Table;
import java.util.List;
import java.util.Map;

/** The page about a run, as Markdown. It contains only figures that were measured in this run. */
public final class Report {

    private final Page page;

    private Report(Page page) {
        this.page = page;
    }

    /**
     * Writes the page.
     *
     * @param facts about machine and run, one sentence each
     * @param plots file names relative to the page, by title
     */
    public static String of(Results results, List<String> facts, Map<String, String> plots, String jmh) {
        Page page = new Page(results);
        new Report(page).head(facts);
        page.goals(new Goals(results).lines());
        plots.forEach((title, file) -> page.line("![" + title + "](" + file + ")\n"));
        tables().forEach(page::table);
        if (!jmh.isEmpty()) {
            page.line("## In one process, over the memory store (JMH)\n\n```\n" + jmh + "```\n");
        }
        page.notes();
        return page.text();
    }

    private void head(List<String> facts) {
        line("# Benchmarks: the tables\n");
        line("[benchmarks.md](benchmarks.md) has ten figures of this page, by the question that they answer.\n");
        line(
                "`bench/run` writes this page. Every figure is of one run on one machine. Trust the server's own counts (commands");
        line("and bytes) most, then CPU per operation, then ratios within a round, and the absolute rates least.\n");
        line("## How was it measured?\n");
        facts.forEach(fact -> line("- " + fact));
        line("""
                - Each peer runs in child JVMs of its own, with its defaults. These stay up and warm over the cases. Peers take turns
                  within each round. A cell is the median of the rounds (least–most); a ratio is the median of the ratios within a
                  round.
                - In *held*, the peers hold at the same time, each at a server of its own that was just started. So the bytes at the
                  server include the growth of its tables.
                - *lettuce* and *jedis* are a lock written by hand, and the limit of the rates: `SET NX PX` and a
                  compare-and-delete script, retried each millisecond. *lettuce-lean* is the limit of the server's cost: the least
                  that two scripts can do for a lease, a fencing token, a look at a queue and a message. *lettuce-scripts* measures
                  the engine alone: it runs Holdfast's own two scripts on plain Lettuce. *lettuce-handoff* adds Holdfast's queue and
                  grants. *lettuce-queue* is the least that a hand-off by a server's queue can cost: a list and a message, without
                  lease and token.
                - Commands are those on the wire, from `INFO commandstats`: scripts, (un)subscribe, ping, and what else the peer
                  sends. Calls made by scripts are not counted. A heartbeat in the window counts. Bytes are from `INFO stats`.
                - In each contended case a detector looks for two holders at the same time, in the process and between processes
                  (all stays merged by time). One overlap fails the run.
                - A window is measured again if a counter at one of its borders was read late by more than an eighth of it.
                  Otherwise a harness thread that gets no processor would spoil rates and counts without a sign.
                - A wait is cut at the borders of its window. CPU is that of the whole process, compiler and collector included.
                """);
    }

    private void line(String text) {
        page.line(text);
    }

    private static List<Table> tables() {
        Map<String, String> pairs = columns(
                "rate",
                "pairs/s",
                "p50us",
                "p50 µs",
                "p99us",
                "p99 µs",
                "commands",
                "commands/pair",
                "clientCpuUs",
                "client CPU µs",
                "serverCpuUs",
                "server CPU µs");
        Map<String, String> contended = columns(
                "rate",
                "acquisitions/s",
                "commands",
                "commands/acq.",
                "bytesOut",
                "server bytes out/acq.",
                "handoffP50us",
                "remote hand-off p50 µs",
                "handoffP99us",
                "p99 µs",
                "remotePerSecond",
                "remote hand-offs/s",
                "commandsPerHandoff",
                "commands/remote hand-off",
                "longestWaitMs",
                "longest wait ms",
                "mostOfProcess",
                "most per process",
                "leastOfProcess",
                "least per process",
                "clientCpuUs",
                "client CPU µs/acq.");
        Map<String, String> cold =
                columns("firstMs", "first pair ms", "in1s", "pairs in 1 s", "in3s", "in 3 s", "in10s", "in 10 s");
        return List.of(
                new Table(
                        "counted",
                        "Exact cost of 500 pairs (1: plain, 2: reentrant)",
                        "kind",
                        columns(
                                "commands",
                                "commands/pair",
                                "bytesIn",
                                "bytes to server",
                                "bytesOut",
                                "bytes from server")),
                new Table("uncontended", "Uncontended pairs, a name for each thread", "threads", pairs),
                new Table("reentrant", "Reentrant pairs", "threads", pairs),
                new Table(
                        "async",
                        "Asynchronous pairs in flight",
                        "in flight",
                        columns(
                                "rate",
                                "pairs/s",
                                "commands",
                                "commands/pair",
                                "clientCpuUs",
                                "client CPU µs",
                                "serverCpuUs",
                                "server CPU µs")),
                new Table(
                        "one-name",
                        "One process, one name, empty section",
                        "threads",
                        columns(
                                "rate",
                                "acquisitions/s",
                                "most",
                                "most per thread",
                                "least",
                                "least per thread",
                                "longestWaitMs",
                                "longest wait ms",
                                "commands",
                                "commands/acq.",
                                "clientCpuUs",
                                "client CPU µs")),
                new Table(
                        "readers",
                        "One process, one read-write lock, all threads read, empty section",
                        "threads",
                        columns(
                                "rate",
                                "reads/s",
                                "p99us",
                                "p99 µs",
                                "longestWaitMs",
                                "longest wait ms",
                                "commands",
                                "commands/read",
                                "clientCpuUs",
                                "client CPU µs",
                                "serverCpuUs",
                                "server CPU µs")),
                new Table("processes-x1", "J processes × 1 thread, one name, empty section", "J", contended),
                new Table("processes-x4", "J processes × 4 threads, one name, empty section", "J", contended),
                new Table("held", "Held with a lease of 3 s, renewed each second", "held", held("lock")),
                new Table(
                        "permits",
                        "J processes × 8 threads, five permits, each held for 2 ms",
                        "J",
                        columns(
                                "rate",
                                "acquisitions/s",
                                "commands",
                                "commands/acq.",
                                "longestWaitMs",
                                "longest wait ms",
                                "longestByFair",
                                "longest wait / fair share",
                                "mostOfProcess",
                                "most per process",
                                "leastOfProcess",
                                "least per process",
                                "clientCpuUs",
                                "client CPU µs/acq.",
                                "serverCpuUs",
                                "server CPU µs/acq.")),
                new Table(
                        "permits-held",
                        "Permits of one pool, held with a lease of 3 s, renewed each second, beside locks",
                        "held",
                        held("permit")),
                new Table(
                        "churn",
                        "Churn, then idle",
                        "pairs/s wanted",
                        columns(
                                "rate",
                                "pairs/s",
                                "extraPerSecond",
                                "scripts/s beyond 2 per pair",
                                "idleScripts",
                                "scripts when idle")),
                new Table(
                        "killed",
                        "Holder killed: lateness of the next grant after the expiry (lease 2 s)",
                        "names",
                        columns("lateP50Ms", "p50 ms", "lateMaxMs", "worst ms")),
                new Table(
                        "cold",
                        "Cold start: time from the start of the JVM to the first pair, and pairs from then on",
                        "threads",
                        cold),
                new Table("young", "Young JVM: the same with many threads, a name for each", "threads", cold),
                new Table(
                        "virtual-threads",
                        "Virtual threads, one pair each, on 100 names",
                        "threads",
                        columns("seconds", "seconds", "completed", "completed", "commands", "commands/pair")));
    }

    /** Returns the columns of a table of what is held for long: locks or permits. */
    private static Map<String, String> held(String one) {
        return columns(
                "commandsPerPeriod",
                "commands/period",
                "bytesInPerPeriod",
                "bytes/period",
                "clientCpuPercent",
                "client CPU %",
                "serverCpuPercent",
                "server CPU %",
                "heapPerLock",
                "client heap B/" + one,
                "serverBytesPerLock",
                "server B/" + one,
                "lost",
                "lost");
    }
}
