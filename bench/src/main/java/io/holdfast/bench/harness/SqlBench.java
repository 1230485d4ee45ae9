package io.holdfast.bench.harness;

import io.holdfast.bench.agent.Message;
import io.holdfast.bench.agent.Series;
import io.holdfast.bench.report.Results;
import io.holdfast.bench.report.SqlReport;
import io.holdfast.spi.AcquireReply;
import io.holdfast.spi.AcquireRequest;
import io.holdfast.spi.LockStore;
import io.holdfast.spi.StoreContext;
import io.holdfast.spi.TimeSource;
import io.holdfast.sql.SqlStores;
import io.holdfast.testkit.faults.FaultProxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Holdfast on PostgreSQL beside ShedLock's provider for a JdbcTemplate and Spring Integration's JdbcLockRegistry: {@code
 * bench/run --only sql}, or one of its cases.
 */
final class SqlBench implements AutoCloseable {

    static final String ALL = "sql";

    private static final List<String> SMALL = List.of("-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1");
    private static final List<String> LARGE = List.of("-Xmx512m", "-XX:+UseSerialGC");
    private static final Duration PATIENCE = Duration.ofMinutes(30);

    /** A window is short where an idle machine makes hundreds of pairs in it: so often the peers take turns. */
    private static final int TURNS = 8;

    /** A round trip of the client that is far away. */
    private static final Duration AWAY = Duration.ofMillis(10);

    private static final int NEAR = 3;

    /** What is measured: a peer with settings. */
    private enum Subject {
        HOLDFAST("holdfast", "holdfast", "&createTable=true"),
        WATCHING("holdfast, notify=false", "holdfast", "&createTable=true&notify=false"),
        SHEDLOCK("shedlock", "shedlock-jdbc", ""),
        SPRING("JdbcLockRegistry", "spring-jdbc", "");

        private final String label;
        private final String peer;
        private final String options;

        Subject(String label, String peer, String options) {
            this.label = label;
            this.peer = peer;
            this.options = options;
        }
    }

    @FunctionalInterface
    private interface Measuring {
        void run(SqlBench bench) throws Exception;
    }

    private static final Map<String, Measuring> CASES = new LinkedHashMap<>();

    static {
        CASES.put("sql-pair", SqlBench::pairs);
        CASES.put("sql-contended", SqlBench::contended);
        CASES.put("sql-far", SqlBench::far);
        CASES.put("sql-snapshot", SqlBench::snapshot);
        CASES.put("sql-queue", SqlBench::queue);
        CASES.put("sql-held", SqlBench::held);
    }

    private final Profile profile;

    /** Whether the figures mean nothing. */
    private final boolean smoke;

    private final Path scratch;
    private final SqlServer server;
    private final Agents small;
    private final Agents large;
    private final Results results = new Results();
    private int names;

    private SqlBench(Profile profile, Path scratch, SqlServer server) {
        this.profile = profile;
        this.smoke = profile.name().equals(Profile.SMOKE.name());
        this.scratch = scratch;
        this.server = server;
        this.small = new Agents(SMALL, log());
        this.large = new Agents(LARGE, log());
    }

    static boolean isAsked(List<String> only) {
        return !only.isEmpty() && only.stream().allMatch(id -> id.startsWith(ALL));
    }

    /** Measures and writes {@code benchmarks-sql.md}. */
    static Results run(Profile profile, List<String> only, Path out, Path scratch, String fact) throws Exception {
        for (String id : only) {
            if (!id.equals(ALL) && !CASES.containsKey(id)) {
                throw new IllegalArgumentException(
                        "case: " + id + " (expected: " + ALL + " or some of " + CASES.keySet() + ")");
            }
        }
        try (SqlServer server = SqlServer.start();
                SqlBench bench = new SqlBench(profile, scratch, server)) {
            for (Map.Entry<String, Measuring> each : CASES.entrySet()) {
                if (only.contains(ALL) || only.contains(each.getKey())) {
                    each.getValue().run(bench);
                }
            }
            String page = SqlReport.of(bench.results, fact + " " + server.version() + ".");
            Files.createDirectories(out);
            Files.writeString(out.resolve("benchmarks-sql.md"), page);
            System.out.println(page);
            return bench.results;
        }
    }

    @Override
    public void close() {
        small.close();
        large.close();
    }

    /** Threads with a name each, which is free. */
    private void pairs() throws Exception {
        for (int turn = 0; turn < (smoke ? 1 : profile.rounds() * TURNS); turn++) {
            for (int threads : smoke ? List.of(1) : List.of(1, 8)) {
                for (Subject subject : List.of(Subject.HOLDFAST, Subject.SHEDLOCK, Subject.SPRING)) {
                    List<AgentProcess> used = open(large, subject, 1);
                    Message order = PairCases.order(freshName(), threads).with("own", true);
                    add("sql-pair", threads, subject, figures(window(used, order, turn == 0)));
                    large.close(used);
                }
            }
        }
    }

    /** Processes with one thread each that want one name. */
    private void contended() throws Exception {
        List<Integer> sizes = smoke ? profile.jvms() : List.of(2, 8, 16);
        for (int round = 0; round < profile.rounds(); round++) {
            for (int processes : sizes) {
                for (Subject subject : List.of(Subject.HOLDFAST, Subject.WATCHING, Subject.SPRING)) {
                    List<AgentProcess> used = open(small, subject, processes);
                    Window<SqlServer.Counters> window = window(used, PairCases.order(freshName(), 1), round == 0);
                    small.close(used);
                    add("sql-contended", processes, subject, withHandoffs(window));
                }
            }
        }
    }

    /** Some clients near, and one whose statements need a while. */
    private void far() throws Exception {
        int near = smoke ? 1 : NEAR;
        try (Agents others = new Agents(SMALL, log());
                FaultProxy proxy = FaultProxy.to("127.0.0.1", server.port())) {
            proxy.delay(AWAY.dividedBy(2));
            for (int round = 0; round < profile.rounds(); round++) {
                for (Subject subject : List.of(Subject.HOLDFAST, Subject.SPRING)) {
                    List<AgentProcess> used = new ArrayList<>(open(small, subject, near));
                    String url = server.url().replace(":" + server.port() + "/", ":" + proxy.port() + "/");
                    List<AgentProcess> away = others.open(subject.peer, 1, url + subject.options, Bench.LEASE);
                    used.addAll(away);
                    Window<SqlServer.Counters> window = window(used, PairCases.order(freshName(), 1), round == 0);
                    small.close(used.subList(0, near));
                    others.close(away);
                    Map<String, Double> figures = withHandoffs(window);
                    List<Message> far = window.answers().subList(near, near + 1);
                    double each = Bench.sum(window.answers().subList(0, near), "acquisitions") / near;
                    figures.put("farShare", Bench.sum(far, "acquisitions") / each);
                    figures.put("farWaitMs", Bench.max(far, "longestWaitMs"));
                    add("sql-far", near + 1, subject, figures);
                }
            }
        }
    }

    /** Pairs on one name while the snapshot of another transaction keeps all versions of all rows. */
    private void snapshot() throws Exception {
        for (Subject subject : List.of(Subject.HOLDFAST, Subject.SHEDLOCK, Subject.SPRING)) {
            // The time of a peer's pairs grows with the square of their number.
            int pairs = smoke ? 30 : profile.isShort() && subject != Subject.HOLDFAST ? 4_500 : 18_000;
            AgentProcess agent = open(large, subject, 1).get(0);
            Message order = Message.of("series").with("name", freshName());
            agent.send(order.with("pairs", smoke ? 30 : 3_000));
            agent.await(PATIENCE);
            try (Connection old = server.keepSnapshot()) {
                SqlServer.Counters before = server.counters();
                agent.send(order.with("name", freshName()).with("pairs", pairs));
                Map<String, Double> figures = numbers(agent.await(PATIENCE));
                figures.put("statements", (server.counters().statements() - before.statements()) / (double) pairs);
                add("sql-snapshot", pairs, subject, figures);
                old.rollback();
            }
            large.close(List.of(agent));
        }
    }

    /** Waiters that come to the queue of one hold and leave it, while a snapshot keeps all versions of all rows. */
    private void queue() throws Exception {
        int writes = smoke ? 60 : 18_000;
        String name = freshName();
        try (LockStore holder = store("hf-bench-holder");
                LockStore waiter = store("hf-bench-waiter");
                Connection old = server.keepSnapshot()) {
            reply(holder.acquire(AcquireRequest.once(name, "hf-bench-holder:1", PATIENCE.toMillis())));
            Series series = new Series(writes / 2);
            for (int i = 0; i < writes / 2; i++) {
                String id = "hf-bench-waiter:" + i;
                long from = System.nanoTime();
                AcquireReply reply = reply(waiter.acquire(AcquireRequest.queueing(name, id, 30_000, 5_000)));
                if (!(reply instanceof AcquireReply.Busy)) {
                    throw new IllegalStateException(name + " was granted to a second holder: " + reply);
                }
                waiter.abandon(name, id).toCompletableFuture().join();
                series.add((System.nanoTime() - from) / 2);
            }
            add("sql-queue", writes, Subject.HOLDFAST, series.figures());
            old.rollback();
        }
    }

    /** Locks that are held for long. */
    private void held() throws Exception {
        Duration lease = Duration.ofSeconds(smoke ? 3 : 60);
        int locks = profile.held();
        List<AgentProcess> used = large.open("holdfast", 1, server.url() + Subject.HOLDFAST.options, lease);
        Message order = Message.of("hold")
                .with("names", locks)
                .with("name", freshName())
                .with("lease", lease.toNanos());
        used.get(0).send(order.with("phase", "take"));
        Map<String, Double> figures = numbers(used.get(0).await(PATIENCE));
        Window<SqlServer.Counters> window =
                Window.of(used, order.with("phase", "watch"), false, scratch, Duration.ZERO, lease, server::counters);
        double seconds = lease.toMillis() / 1e3;
        figures.put("rowsPerSecond", (window.after().rows() - window.before().rows()) / seconds);
        figures.put(
                "statementsPerSecond",
                (window.after().statements() - window.before().statements()) / seconds);
        figures.put("walPerSecond", (window.after().walBytes() - window.before().walBytes()) / seconds);
        figures.put("sessions", (double) window.after().sessions());
        used.get(0).send(order.with("phase", "give"));
        figures.putAll(numbers(used.get(0).await(PATIENCE)));
        add("sql-held", locks, Subject.HOLDFAST, figures);
    }

    private Path log() {
        return scratch.resolve("agents.log");
    }

    private List<AgentProcess> open(Agents agents, Subject subject, int processes) throws Exception {
        return agents.open(subject.peer, processes, server.url() + subject.options, Bench.LEASE);
    }

    private String freshName() {
        return "bench:" + (100_000 + names++);
    }

    private LockStore store(String id) {
        return SqlStores.url(server.url()).createTable(true).open(new StoreContext(id, TimeSource.system()));
    }

    private static AcquireReply reply(java.util.concurrent.CompletionStage<AcquireReply> stage) {
        return stage.toCompletableFuture().join();
    }

    private Window<SqlServer.Counters> window(List<AgentProcess> used, Message order, boolean first) throws Exception {
        return Window.of(
                used,
                order,
                true,
                scratch,
                first ? profile.firstWarmUp() : profile.warmUp(),
                profile.window(),
                server::counters);
    }

    private static Map<String, Double> figures(Window<SqlServer.Counters> window) {
        Map<String, Double> figures = window.figures();
        SqlServer.Counters before = window.before();
        SqlServer.Counters after = window.after();
        figures.put("statements", (after.statements() - before.statements()) / window.acquisitions());
        figures.put("walBytes", (after.walBytes() - before.walBytes()) / window.acquisitions());
        figures.put("sessions", after.sessions() / (double) window.answers().size());
        return figures;
    }

    private static Map<String, Double> withHandoffs(Window<SqlServer.Counters> window) throws Exception {
        Map<String, Double> figures = figures(window);
        Handoffs handoffs = Handoffs.of(window.journals());
        figures.merge("violations", (double) handoffs.overlaps(), Double::sum);
        figures.put("handoffP50ms", handoffs.latencies().micros(0.5) / 1e3);
        figures.put("handoffs", handoffs.remote() / (window.length().toNanos() / 1e9));
        return figures;
    }

    private static Map<String, Double> numbers(Message answer) {
        Map<String, Double> numbers = new LinkedHashMap<>();
        answer.fields().forEach((key, value) -> numbers.put(key, Double.valueOf(value)));
        return numbers;
    }

    private void add(String id, int size, Subject subject, Map<String, Double> figures) {
        results.add(new Results.Cell(id, size, subject.label), figures);
        System.err.println(id + " " + size + " " + subject.label + " " + figures);
    }
}
