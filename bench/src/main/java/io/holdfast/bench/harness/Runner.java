package io.holdfast.bench.harness;

import io.holdfast.bench.report.Results;
import io.holdfast.testkit.servers.RedisServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Runs cases against one server: round by round, in each round size by size, and for each size peer by peer. */
public final class Runner {

    private static final List<Case> CASES = List.of(
            new PairCases.Counted(),
            PairCases.UNCONTENDED,
            PairCases.REENTRANT,
            new PairCases.Async(),
            PairCases.ONE_NAME,
            PairCases.READERS,
            ProcessesCase.ONE_THREAD,
            ProcessesCase.FOUR_THREADS,
            HeldCase.LOCKS,
            new PermitsCase(),
            HeldCase.PERMITS,
            new TimeCases.Churn(),
            new TimeCases.Killed(),
            TimeCases.COLD,
            TimeCases.YOUNG,
            new TimeCases.VirtualThreads());

    private final Profile profile;
    private final List<String> only;
    private final List<String> peers;
    private final Path scratch;
    private final Results results = new Results();

    /**
     * Sets up a run.
     *
     * @param only ids of cases; empty for all
     * @param peers labels of peers; empty for all
     * @param scratch a folder for journals and the children's logs
     */
    public Runner(Profile profile, List<String> only, List<String> peers, Path scratch) {
        this.profile = profile;
        this.only = List.copyOf(only);
        this.peers = List.copyOf(peers);
        this.scratch = scratch;
        List<String> ids = CASES.stream().map(Case::id).toList();
        if (!ids.containsAll(only)) {
            throw new IllegalArgumentException("case: " + only + " (expected: some of " + ids + ")");
        }
    }

    public Results run(RedisServer server, Processors processors) throws IOException, InterruptedException {
        Files.createDirectories(scratch);
        List<Case> left = new ArrayList<>(CASES);
        left.removeIf(question -> !only.isEmpty() && !only.contains(question.id()));
        while (!left.isEmpty()) {
            // Consecutive cases with the same Java options share the children, so that a case uses the code that the
            // case before has warmed.
            List<String> jvmArgs = left.get(0).jvmArgs();
            try (Agents agents = new Agents(jvmArgs, scratch.resolve("agents.log"))) {
                while (!left.isEmpty() && left.get(0).jvmArgs().equals(jvmArgs)) {
                    run(left.remove(0), server, processors, agents);
                }
            }
        }
        return results;
    }

    private void run(Case question, RedisServer server, Processors processors, Agents agents)
            throws IOException, InterruptedException {
        List<String> asked = question.peers(profile).stream()
                .filter(peer -> peers.isEmpty() || peers.contains(peer))
                .toList();
        if (question.sizes(profile).isEmpty()) {
            results.note(question.id() + ": not on Java " + Runtime.version().feature());
        }
        long before = System.nanoTime();
        try (ServerMeter meter = new ServerMeter(server)) {
            Bench bench = new Bench(server, processors, meter, agents, profile, scratch);
            for (int round = 0; round < question.rounds(profile); round++) {
                for (int size : question.sizes(profile)) {
                    if (question.isTogether()) {
                        measure(question, bench, asked, size);
                    } else {
                        for (String peer : asked) {
                            measure(question, bench, List.of(peer), size);
                        }
                    }
                }
            }
        }
        progress(question.id() + " took "
                + Duration.ofNanos(System.nanoTime() - before).toSeconds() + " s");
    }

    private void measure(Case question, Bench bench, List<String> some, int size) throws InterruptedException {
        try {
            question.measureTogether(bench, some, size).forEach((peer, figures) -> {
                results.add(new Results.Cell(question.id(), size, peer), figures);
                progress(question.id() + " " + size + " " + peer + " " + figures);
            });
        } catch (InterruptedException e) {
            throw e;
        } catch (Exception e) {
            String said = String.valueOf(e.getMessage());
            String what = question.id() + " " + size + " " + String.join(",", some);
            results.note(what + " failed: " + said.lines().findFirst().orElse(""));
            progress(what + " FAILED: " + said);
            some.forEach(bench::forget);
        }
    }

    private static void progress(String what) {
        System.err.println(what);
    }
}
