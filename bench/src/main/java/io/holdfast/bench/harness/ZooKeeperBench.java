package io.holdfast.bench.harness;

import io.holdfast.bench.agent.Message;
import io.holdfast.bench.report.Results;
import io.holdfast.testkit.servers.ZooKeeperEnsemble;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Holdfast on ZooKeeper beside Curator's own lock, semaphore and read-write lock, on an ensemble of three servers:
 * {@code bench/run --only zookeeper}, or one of its cases.
 */
final class ZooKeeperBench {

    static final String ALL = "zookeeper";

    /** A measurement with several numbers of threads or of processes. */
    private record Question(
            String id, String what, Kind kind, List<Integer> sizes, boolean processes, int threads, boolean own) {}

    /** What is acquired. */
    private enum Kind {
        LOCK(""),
        PERMIT("-permits"),
        READ("-read"),
        WRITE("-write");

        private final String suffix;

        Kind(String suffix) {
            this.suffix = suffix;
        }

        List<String> peers() {
            return List.of("holdfast" + suffix, "curator" + suffix);
        }
    }

    private static final List<Question> QUESTIONS = List.of(
            new Question("zookeeper-uncontended", "threads with a name each", Kind.LOCK, List.of(1), false, 1, true),
            new Question(
                    "zookeeper-one-name",
                    "threads of one process on one name",
                    Kind.LOCK,
                    List.of(64),
                    false,
                    64,
                    false),
            new Question(
                    "zookeeper-processes-x1",
                    "processes × 1 thread on one name",
                    Kind.LOCK,
                    List.of(2, 8),
                    true,
                    1,
                    false),
            new Question(
                    "zookeeper-processes-x4",
                    "processes × 4 threads on one name",
                    Kind.LOCK,
                    List.of(2, 8),
                    true,
                    4,
                    false),
            new Question(
                    "zookeeper-permits",
                    "processes × 8 threads, five permits, each held for 2 ms",
                    Kind.PERMIT,
                    List.of(2, 8),
                    true,
                    PermitsCase.THREADS,
                    false),
            new Question(
                    "zookeeper-readers",
                    "threads of one process read under one name",
                    Kind.READ,
                    List.of(64),
                    false,
                    64,
                    false),
            new Question(
                    "zookeeper-writers",
                    "processes × 1 thread write under one name",
                    Kind.WRITE,
                    List.of(1, 8),
                    true,
                    1,
                    false));

    private final Profile profile;
    private final Path scratch;
    private final Results results = new Results();
    private int names;

    private ZooKeeperBench(Profile profile, Path scratch) {
        this.profile = profile;
        this.scratch = scratch;
    }

    static boolean isAsked(List<String> only) {
        return !only.isEmpty() && only.stream().allMatch(id -> id.startsWith(ALL));
    }

    /** Measures and writes {@code benchmarks-zookeeper.md}. */
    static Results run(Profile profile, List<String> only, Path out, Path scratch, String fact)
            throws IOException, InterruptedException {
        ZooKeeperBench bench = new ZooKeeperBench(profile, scratch);
        try (ZooKeeperEnsemble servers = ZooKeeperEnsemble.start(3)) {
            for (Question question : QUESTIONS) {
                if (only.contains(ALL) || only.contains(question.id())) {
                    bench.run(question, servers);
                }
            }
        }
        Files.createDirectories(out);
        String page = bench.page(fact);
        Files.writeString(out.resolve("benchmarks-zookeeper.md"), page);
        System.out.println(page);
        return bench.results;
    }

    private void run(Question question, ZooKeeperEnsemble servers) throws IOException, InterruptedException {
        List<String> jvm = question.processes()
                ? List.of("-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
                : List.of("-Xmx512m", "-XX:+UseSerialGC");
        try (Agents agents = new Agents(jvm, scratch.resolve("agents.log"))) {
            for (int round = 0; round < profile.rounds(); round++) {
                for (int size : question.sizes()) {
                    for (String peer : question.kind().peers()) {
                        measure(question, servers, agents, peer, size, round == 0);
                    }
                }
            }
        }
    }

    private void measure(
            Question question, ZooKeeperEnsemble servers, Agents agents, String peer, int size, boolean first)
            throws IOException, InterruptedException {
        List<AgentProcess> used = agents.open(peer, question.processes() ? size : 1, servers.uri(), Bench.LEASE);
        Message order = PairCases.order("bench:" + (100_000 + names++), question.threads())
                .with("own", question.own())
                .with("most", most(question))
                .with("section", question.kind() == Kind.PERMIT ? PermitsCase.SECTION.toNanos() : 0);
        Window<Long> window = Window.of(
                used,
                order,
                question.processes(),
                scratch,
                first ? profile.firstWarmUp() : profile.warmUp(),
                profile.window(),
                () -> requests(servers));
        agents.close(used);
        long requests = window.after() - window.before();
        Map<String, Double> figures = window.figures();
        figures.put("requests", requests / window.acquisitions());
        figures.put("clientCpuUs", Bench.sum(window.answers(), "cpuNs") / 1_000 / window.acquisitions());
        double violations = figures.getOrDefault("violations", 0.0);
        if (question.kind() == Kind.PERMIT) {
            violations += PermitsCase.tooMany(window.journals());
            figures.put(
                    "longestByFair",
                    PermitsCase.longestByFair(
                            figures.getOrDefault("longestWaitMs", Double.NaN),
                            size * question.threads(),
                            figures.getOrDefault("rate", Double.NaN)));
        } else if (question.processes()) {
            Handoffs handoffs = Handoffs.of(window.journals());
            violations += handoffs.overlaps();
            figures.put("requestsPerHandoff", requests / (double) Math.max(1, handoffs.remote()));
        }
        figures.put("violations", violations);
        results.add(new Results.Cell(question.id(), size, peer), figures);
        System.err.println(question.id() + " " + size + " " + peer + " " + figures);
    }

    /** Returns how many threads of a process may be inside at once. */
    private static int most(Question question) {
        return switch (question.kind()) {
            case PERMIT -> PermitsCase.PERMITS;
            case READ -> question.threads();
            case LOCK, WRITE -> 1;
        };
    }

    /** Returns the number of packets that the servers received from clients, pings included. */
    private static long requests(ZooKeeperEnsemble servers) {
        long requests = 0;
        for (int i = 0; i < servers.size(); i++) {
            requests += servers.count(i, "zk_packets_received");
        }
        return requests;
    }

    private String page(String fact) {
        StringBuilder page = new StringBuilder("# Benchmarks: ZooKeeper\n\n")
                .append(
                        "This page compares Holdfast's ZooKeeper store with Curator's `InterProcessMutex`, `InterProcessSemaphoreV2`"
                                + " and `InterProcessReadWriteLock`, on three servers on one machine that write nothing through to the disk. Ratios are medians of ratios within a round."
                                + " `bench/run --only zookeeper` writes this page.\n\n")
                .append(fact)
                .append("\n\n| case | size | peer | acquisitions/s | requests/acquisition | requests/hand-off between"
                        + " processes | p50 µs | longest wait ms | longest wait / fair share | × Curator |\n")
                .append("| --- | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n");
        for (Question question : QUESTIONS) {
            for (int size : results.sizes(question.id())) {
                for (String peer : results.peers(question.id())) {
                    page.append("| ")
                            .append(question.what())
                            .append(" | ")
                            .append(size)
                            .append(" | ")
                            .append(peer);
                    for (String figure : List.of(
                            "rate", "requests", "requestsPerHandoff", "p50us", "longestWaitMs", "longestByFair")) {
                        page.append(" | ").append(text(results.median(question.id(), size, peer, figure)));
                    }
                    page.append(" | ")
                            .append(text(results.ratio(
                                    question.id(),
                                    size,
                                    "rate",
                                    peer,
                                    question.kind().peers().get(1))))
                            .append(" |\n");
                }
            }
        }
        page.append("\nOverlaps of two holders: ").append(results.violations()).append(".\n");
        return page.toString();
    }

    private static String text(double value) {
        return Double.isNaN(value) ? "–" : String.format(Locale.ROOT, value >= 100 ? "%,.0f" : "%.2f", value);
    }
}
