package io.holdfast.verify;

import io.holdfast.engine.VerifyEngine.Rules;
import io.holdfast.verify.engine.QuietLogs;
import io.holdfast.verify.engine.SimRuns;
import io.holdfast.verify.engine.SimSite;
import io.holdfast.verify.engine.Simulation;
import io.holdfast.verify.quorum.QuorumBug;
import io.holdfast.verify.quorum.SimQuorumSite;
import io.holdfast.verify.redis.CommandsBug;
import io.holdfast.verify.redis.ScriptBug;
import io.holdfast.verify.redis.SimCommandsSite;
import io.holdfast.verify.redis.SimServerSite;
import io.holdfast.verify.sql.SimSqlSite;
import io.holdfast.verify.sql.SqlBug;
import io.holdfast.verify.zookeeper.EnsembleBug;
import io.holdfast.verify.zookeeper.SimZooKeeperSite;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.function.Function;
import java.util.function.LongFunction;

/**
 * Plays more histories than a test can wait for: {@code SimMarathon STORE FIRST LAST CHUNK FILE}. After each chunk one
 * line is added to the file, so that a run that is stopped has still shown what it played; a violation is added with
 * its timeline, and the run continues. One thread plays: start one for each store, or for each part of the seeds. For
 * short histories, set {@code -Dshort}, and for all {@code -XX:-StackTraceInThrowable}.
 */
final class SimMarathon {

    private final LongFunction<Simulation> maker;
    private final Path file;

    private SimMarathon(LongFunction<Simulation> maker, Path file) {
        this.maker = maker;
        this.file = file;
    }

    public static void main(String[] args) throws IOException {
        if (args.length != 5) {
            throw new IllegalArgumentException(
                    "expected: server|steps|quorum|commands|zookeeper|sql FIRST LAST CHUNK FILE");
        }
        QuietLogs.switchOff();
        LongFunction<Simulation> maker = seed -> new Simulation(seed, Rules.RIGHT, site(args[0]));
        new SimMarathon(maker, Path.of(args[4]))
                .run(Long.parseLong(args[1]), Long.parseLong(args[2]), Long.parseLong(args[3]));
    }

    private static Function<Simulation, SimSite> site(String store) {
        return switch (store) {
            case "server" -> simulation -> new SimServerSite(simulation, ScriptBug.NONE, false);
            case "steps" -> simulation -> new SimServerSite(simulation, ScriptBug.NONE, false, true);
            case "quorum" -> simulation -> new SimQuorumSite(simulation, QuorumBug.NONE);
            case "commands" -> simulation -> new SimCommandsSite(simulation, CommandsBug.NONE);
            case "sql" -> simulation -> new SimSqlSite(simulation, SqlBug.NONE);
            case "zookeeper" -> simulation -> new SimZooKeeperSite(simulation, EnsembleBug.NONE);
            default ->
                throw new IllegalArgumentException(
                        store + " (expected: server, steps, quorum, commands, zookeeper or sql)");
        };
    }

    private void run(long first, long last, long chunk) throws IOException {
        long violations = 0;
        for (long from = first; from <= last; from += chunk) {
            long to = Math.min(last, from + chunk - 1);
            violations += play(from, to);
        }
        write("finished: seeds %d to %d, %d violations".formatted(first, last, violations));
    }

    private long play(long from, long to) throws IOException {
        SimRuns.Tally tally = new SimRuns.Tally();
        long began = System.nanoTime();
        Duration cpuBefore = cpu();
        long violations = 0;
        for (long seed = from; seed <= to; seed++) {
            try {
                tally.play(maker.apply(seed));
            } catch (AssertionError e) {
                violations++;
                write("VIOLATION " + e.getMessage());
            }
        }
        write("seeds %d to %d: %d violations; %.0f s, CPU %.0f s; %s"
                .formatted(
                        from,
                        to,
                        violations,
                        (System.nanoTime() - began) / 1e9,
                        cpu().minus(cpuBefore).toMillis() / 1e3,
                        tally));
        return violations;
    }

    /** Of all threads: some histories have their own, and the compilers and the collector work for all. */
    private static Duration cpu() {
        return ProcessHandle.current().info().totalCpuDuration().orElse(Duration.ZERO);
    }

    private void write(String line) throws IOException {
        Files.writeString(
                file,
                Instant.now().truncatedTo(ChronoUnit.SECONDS) + " " + line + "\n",
                StandardOpenOption.CREATE,
                StandardOpenOption.APPEND);
    }
}
