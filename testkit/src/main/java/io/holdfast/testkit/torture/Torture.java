package io.holdfast.testkit.torture;

import io.holdfast.history.Event;
import io.holdfast.history.Event.Kind;
import io.holdfast.history.Findings;
import io.holdfast.history.History;
import io.holdfast.history.HistoryChecker;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * Runs worker processes and faults for a while, then checks the recorded history.
 *
 * <pre>{@code
 * try (TortureServers servers = ServerKind.SENTINEL.start()) {
 *     Torture.Report report = new Torture(Worker.class, servers.uri(), folder, seed)
 *             .with(servers)
 *             .run(3, Duration.ofMinutes(1), System.out::println);
 *     assertThat(report.findings().violations()).isEmpty();
 * }
 * }</pre>
 */
public final class Torture {

    /** Short, so that much happens within a minute. */
    static final Duration LEASE = Duration.ofSeconds(3);

    /** The time that a busy machine may add to a wait. */
    private static final long SLACK_NANOS = 15_000_000_000L;

    private static final int THREADS = 4;
    private static final long START_NANOS = 60_000_000_000L;

    /**
     * The result of a torture.
     *
     * @param findings the findings of the checker
     * @param faults how many times each kind of fault was made
     * @param history the folder of the history files
     */
    public record Report(Findings findings, Map<String, Integer> faults, Path history) {}

    private final Class<?> workerMain;
    private final String uri;
    private final Path folder;
    private final Random random;
    private boolean shares;
    private final List<TortureFault> faults = new ArrayList<>();
    private final Map<String, Integer> made = new TreeMap<>();

    /**
     * Prepares a torture.
     *
     * @param workerMain a class whose main method calls {@link TortureWorker#run}
     * @param uri the store URI for the workers
     * @param folder an empty folder for the history
     * @param seed decides which faults happen and when, but not what threads do in the meantime
     * @throws IllegalArgumentException if the folder has a history: the check would count its operations without the
     *     faults that excuse them
     */
    public Torture(Class<?> workerMain, String uri, Path folder, long seed) {
        this.workerMain = workerMain;
        this.uri = uri;
        this.folder = folder;
        this.random = new Random(seed);
        try (Stream<Path> files = Files.list(folder)) {
            if (files.anyMatch(file -> file.toString().endsWith(".history"))) {
                throw new IllegalArgumentException(
                        folder + " has the history of an earlier run (expected: a folder without one)");
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Adds a fault that happens now and then. */
    public Torture with(TortureFault fault) {
        faults.add(fault);
        return this;
    }

    /** Lets the workers use permits and a read-write lock, too. */
    public Torture withShares() {
        shares = true;
        return this;
    }

    /** Adds all faults of these servers. */
    public Torture with(TortureServers servers) {
        servers.faults().forEach(this::with);
        return this;
    }

    /**
     * Runs the torture.
     *
     * @param progress receives a sentence now and then
     */
    public Report run(int processes, Duration length, Consumer<String> progress)
            throws IOException, InterruptedException {
        String prefix = "torture:" + Long.toString(System.nanoTime(), 36) + ":";
        try (Recorder recorder = new Recorder(folder.resolve("director.history"));
                TortureResource resource = new TortureResource(recorder);
                WorkerProcesses workers = new WorkerProcesses(
                        workerMain,
                        new TortureWorker.Setup(uri, LEASE, "", resource.port(), "", prefix, THREADS, shares),
                        folder,
                        recorder)) {
            progress.accept("starting " + processes + " processes");
            for (int i = 0; i < processes; i++) {
                workers.start();
            }
            awaitWork(resource, processes * THREADS);
            List<TortureFault> all = new ArrayList<>(faults);
            all.addAll(workers.faults());
            progress.accept("they use locks, with faults, for " + length.toSeconds() + " s");
            long end = System.nanoTime() + length.toNanos();
            while (System.nanoTime() - end < 0) {
                Thread.sleep(Math.min(500 + random.nextInt(2_500), length.toMillis()));
                TortureFault fault = all.get(random.nextInt(all.size()));
                long left = TimeUnit.NANOSECONDS.toSeconds(end - System.nanoTime());
                progress.accept(fault.name() + ", " + Math.max(0, left) + " s left");
                make(fault, recorder);
            }
            progress.accept("waiting for the workers to end");
            workers.end();
        }
        return new Report(check(), made, folder);
    }

    /**
     * Waits for the workers: on a busy machine a process starts slowly, and faults before its first use prove nothing.
     */
    private static void awaitWork(TortureResource resource, int threads) throws IOException, InterruptedException {
        long end = System.nanoTime() + START_NANOS;
        while (resource.connections() < threads) {
            if (System.nanoTime() - end >= 0) {
                throw new IOException("only " + resource.connections() + " of " + threads
                        + " threads of the workers have begun in a minute; see their logs beside the history");
            }
            Thread.sleep(20);
        }
    }

    private void make(TortureFault fault, Recorder recorder) throws IOException, InterruptedException {
        made.merge(fault.name(), 1, Integer::sum);
        long began = System.nanoTime();
        fault.make(random);
        if (fault.losesData()) {
            recorder.record(Event.of(began, Kind.FORGOT, "server", "nanos", System.nanoTime() - began));
        }
    }

    private Findings check() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return HistoryChecker.builder()
                    .lease(LEASE.toNanos())
                    .waitSlack(SLACK_NANOS)
                    .build()
                    .check(History.read(
                            files.filter(f -> f.toString().endsWith(".history")).toList()));
        }
    }
}
