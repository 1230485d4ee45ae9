package io.holdfast.bench.harness;

import io.holdfast.bench.report.Plot;
import io.holdfast.bench.report.Report;
import io.holdfast.bench.report.Results;
import io.holdfast.testkit.servers.Installation;
import io.holdfast.testkit.servers.RedisServer;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The main program of {@code bench/run}: measures, and writes the page and its plots. */
public final class Main {

    private static final String USAGE =
            "usage: bench/run [--profile short|full] [--rounds n] [--only case,…] [--peers a,b] [--out folder] [--jmh file]"
                    + " [--apart yes|no]";

    private Main() {}

    public static void main(String[] args) throws Exception {
        Map<String, String> options = options(args);
        Profile profile = Profile.of(options.getOrDefault("profile", "short"));
        if (options.containsKey("rounds")) {
            profile = profile.withRounds(Integer.parseInt(options.get("rounds")));
        }
        Path out = Path.of(options.getOrDefault("out", "docs"));
        Path scratch = Files.createTempDirectory("holdfast-bench");
        List<String> only = list(options.getOrDefault("only", ""));
        Processors processors = Processors.of(options.getOrDefault("apart", "no"));
        if (processors == Processors.APART && (ZooKeeperBench.isAsked(only) || SqlBench.isAsked(only))) {
            throw new IllegalArgumentException(
                    "--apart yes: not for ZooKeeper and SQL, whose servers share the" + " processors with the clients");
        }
        if (ZooKeeperBench.isAsked(only)) {
            if (ZooKeeperBench.run(profile, only, out, scratch, fact(profile, args))
                            .violations()
                    > 0) {
                System.err.println("FAILED: two holders at once");
                System.exit(1);
            }
            return;
        }
        if (SqlBench.isAsked(only)) {
            if (SqlBench.run(profile, only, out, scratch, fact(profile, args)).violations() > 0) {
                System.err.println("FAILED: two holders at once");
                System.exit(1);
            }
            return;
        }
        Runner runner = new Runner(
                profile, list(options.getOrDefault("only", "")), list(options.getOrDefault("peers", "")), scratch);
        String loadBefore = load();
        Results results;
        List<String> facts;
        try (RedisServer server = server()) {
            processors.placeClients();
            processors.place(server);
            results = runner.run(server, processors);
            facts = facts(profile, server, String.join(" ", args), loadBefore, processors);
        }
        Path jmh = options.containsKey("jmh") ? Path.of(options.get("jmh")) : null;
        write(out, results, facts, jmh == null || !Files.exists(jmh) ? "" : Files.readString(jmh));
        if (results.violations() > 0) {
            System.err.println("FAILED: " + results.violations() + " overlaps, see the notes of the page");
            System.exit(1);
        }
    }

    private static void write(Path out, Results results, List<String> facts, String jmh) throws IOException {
        Path plots = Files.createDirectories(out.resolve("plots"));
        Map<String, String> written = new LinkedHashMap<>();
        for (String threads : List.of("1", "4")) {
            String id = "processes-x" + threads;
            String x = "processes that want one name, " + threads + (threads.equals("1") ? " thread" : " threads")
                    + " each";
            plot(
                    plots,
                    written,
                    id + "-commands.svg",
                    "Commands per acquisition",
                    Plot.of(results, id, "commands", "Commands per acquisition", x, false));
            plot(
                    plots,
                    written,
                    id + "-rate.svg",
                    "Acquisitions per second",
                    Plot.of(results, id, "rate", "Acquisitions per second", x, true));
            plot(
                    plots,
                    written,
                    id + "-bytes.svg",
                    "Bytes out of the server per acquisition",
                    Plot.of(results, id, "bytesOut", "Bytes out of the server per acquisition", x, false));
        }
        String page = Report.of(results, facts, written, jmh);
        Files.writeString(out.resolve("benchmarks-tables.md"), page);
        new PrintStream(System.out, true, StandardCharsets.UTF_8).println(page);
    }

    private static void plot(Path folder, Map<String, String> written, String file, String title, String svg)
            throws IOException {
        if (!svg.isEmpty()) {
            Files.writeString(folder.resolve(file), svg);
            written.put(title + " (" + file + ")", "plots/" + file);
        }
    }

    /** Returns Redis 7.0 of the system, on which the peers were first measured; otherwise the bundled one. */
    private static RedisServer server() {
        List<Installation> found = RedisServer.available();
        Installation best = found.stream()
                .filter(installation -> installation.executable().equals(Path.of("/usr/bin/redis-server")))
                .findFirst()
                .orElse(found.get(0));
        return RedisServer.builder().installation(best).start();
    }

    /** Returns what is to be known of a run against another server than Redis. */
    private static String fact(Profile profile, String... args) {
        return "`bench/run " + String.join(" ", args) + "` on " + LocalDate.now(ZoneOffset.UTC) + ": profile "
                + profile.name() + ", " + profile.rounds() + " rounds, windows of "
                + profile.window().toMillis() + " ms; "
                + Processors.COUNT + " processors, Java " + Runtime.version()
                + ", load average before " + load() + ".";
    }

    private static List<String> facts(
            Profile profile, RedisServer server, String args, String loadBefore, Processors processors) {
        return List.of(
                "`bench/run " + args + "` on " + LocalDate.now(ZoneOffset.UTC) + ": profile " + profile.name() + ", "
                        + profile.rounds() + " rounds, windows of "
                        + profile.window().toMillis() + " ms after "
                        + profile.warmUp().toMillis() + " ms of warm-up ("
                        + profile.firstWarmUp().toMillis() + " ms and more the first time).",
                "The machine had " + Processors.COUNT + " processors, "
                        + System.getProperty("os.name") + " " + System.getProperty("os.arch") + ", Java "
                        + Runtime.version() + ", and " + server.installation()
                        + " on the loopback interface without persistence. "
                        + (processors == Processors.APART
                                ? "The server had one processor for itself, and the clients had the rest."
                                : "Server and clients shared the processors."),
                "The load average was " + loadBefore + " before, and " + load() + " after (which includes this run).");
    }

    private static String load() {
        return String.format(
                Locale.ROOT,
                "%.1f",
                ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage());
    }

    private static Map<String, String> options(String[] args) {
        Map<String, String> options = new LinkedHashMap<>();
        for (int i = 0; i < args.length; i += 2) {
            if (!List.of("--profile", "--rounds", "--only", "--peers", "--out", "--jmh", "--apart")
                            .contains(args[i])
                    || i + 1 == args.length) {
                throw new IllegalArgumentException(args[i] + "\n" + USAGE);
            }
            options.put(args[i].substring(2), args[i + 1]);
        }
        return options;
    }

    private static List<String> list(String commas) {
        return commas.isEmpty() ? List.of() : Arrays.asList(commas.split(",", -1));
    }
}
