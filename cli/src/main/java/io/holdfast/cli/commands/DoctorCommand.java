package io.holdfast.cli.commands;

import io.holdfast.Lease;
import io.holdfast.LockClient;
import io.holdfast.LockStoreException;
import io.holdfast.cli.console.CliException;
import io.holdfast.cli.console.ExitCode;
import io.holdfast.cli.console.Io;
import io.holdfast.cli.console.Version;
import io.holdfast.cli.screen.Output;
import io.holdfast.cli.screen.Tone;
import io.holdfast.console.json.Json;
import io.holdfast.jdbc.JdbcOnce;
import io.holdfast.spi.Finding;
import io.holdfast.spi.Finding.Severity;
import io.holdfast.spi.Names;
import io.holdfast.spi.StoreHealth;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code holdfast doctor}. */
@Command(
        name = "doctor",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        synopsisHeading = "%nUsage: ",
        descriptionHeading = "%n",
        header = "Check a store: version, mode, rights, settings, clock, latency.",
        description = {
            "Takes and releases a lock with a random name a hundred times, and asks the servers what they are. Says"
                    + " what was found and what to do about it.",
            ""
        },
        footer = {
            "",
            "Exit codes: 0 no error (there may be warnings), 69 the store is unavailable, 78 a finding is an error.",
            "--json prints one line: store, usable, errors, warnings, pairMicros (p50, p90, p99, max; null without a"
                    + " lock), findings (each with severity, subject, text, advice)."
        })
public final class DoctorCommand implements Callable<Integer> {

    private static final String ONCE_VARIABLE = "HOLDFAST_ONCE";

    private static final int PAIRS = 100;
    private static final Duration PAIRS_AT_MOST = Duration.ofSeconds(5);

    /** Slower than this, a lock costs more than most of what it guards. */
    private static final Duration SLOW = Duration.ofMillis(50);

    private final Io io;
    private final List<Finding> findings = new ArrayList<>();

    /** What a person waits for, if that takes long. */
    private volatile String step = "for the store to answer";

    /** How long each lock and unlock took, in nanoseconds, the fastest first. */
    private long[] pairs = {};

    @Mixin
    private final StoreOption store = new StoreOption();

    @Option(
            names = "--once",
            paramLabel = "URL",
            description = {
                "Also examines the keys of @Idempotent and JdbcOnce",
                "in this database; by default $" + ONCE_VARIABLE + "."
            })
    private @Nullable String once = System.getenv(ONCE_VARIABLE);

    @Option(names = "--once-table", paramLabel = "NAME", description = "Their table; by default holdfast_once.")
    private String onceTable = "holdfast_once";

    @Option(names = "--json", description = "Print one line of JSON.")
    private boolean json;

    public DoctorCommand(Io io) {
        this.io = io;
    }

    @Override
    public Integer call() throws InterruptedException {
        String description;
        boolean usable;
        WaitNotes notes = new WaitNotes(io, "doctor", () -> step);
        notes.start();
        try (notes;
                LockClient client = store.client().build()) {
            description = client.describeStore();
            step = "while " + description + " tells its settings";
            StoreHealth health = client.storeHealth();
            usable = health.usable();
            addHealth(health);
            if (usable) {
                examine(client);
            } else {
                findings.addAll(client.diagnose(trialName()));
            }
        }
        if (once != null) {
            examineKeys(once);
        }
        findings.sort(Comparator.comparing(Finding::severity).reversed());
        if (json) {
            io.out().println(json(description, usable));
        } else {
            print(description);
        }
        return count(Severity.ERROR) > 0 ? ExitCode.BAD_CONFIGURATION : ExitCode.OK;
    }

    private void addHealth(StoreHealth health) {
        String details = health.details().toString().replaceAll("^\\{|\\}$", "").replace("=", " ");
        if (!health.usable()) {
            findings.add(Finding.error(
                    "health",
                    "no lock can be taken now" + (details.isEmpty() ? "" : ": " + details),
                    "see its servers"));
        } else if (!details.isEmpty()) {
            findings.add(Finding.ok("health", details));
        }
    }

    private void examine(LockClient client) throws InterruptedException {
        String name = trialName();
        try (Lease lease = client.tryAcquire(name)
                .orElseThrow(() -> new CliException(ExitCode.INTERNAL, "a lock with a random name is held"))) {
            findings.addAll(client.diagnose(lease.name()));
        }
        findings.add(permits(client, name));
        step = "while it takes and releases a lock " + PAIRS + " times";
        pairs = measure(client, name);
        String text = pairs.length + " locks and unlocks: half within " + percentile(50) + ", 90 % within "
                + percentile(90) + ", 99 % within " + percentile(99) + ", the slowest " + percentile(100);
        findings.add(
                at(50) < SLOW.toNanos()
                        ? Finding.ok("latency", text)
                        : Finding.warning(
                                "latency", text, "run this where the locks are used, or move the store nearer"));
    }

    private void examineKeys(String url) {
        try (Connection connection = DriverManager.getConnection(url)) {
            findings.addAll(JdbcOnce.defaults().table(onceTable).diagnose(connection));
        } catch (SQLException e) {
            // A driver that is missing would show the password, which a URL can have in two places.
            String shown = url.replaceFirst("[?;].*", "").replaceFirst("//[^/]*@", "//");
            findings.add(Finding.error(
                    "once",
                    shown + " cannot be asked: "
                            + String.valueOf(e.getMessage()).replace(url, shown),
                    "see its address, its user and the driver, whose jar HOLDFAST_DRIVER names"));
        }
    }

    /** Takes and releases a permit, because a user may have the rights for locks only. */
    private static Finding permits(LockClient client, String name) {
        if (!client.hasPermits()) {
            return Finding.ok(
                    "permits", "this store has locks and leaderships, but no permits and no read-write locks");
        }
        try (Lease permit = client.permits(name, 1)
                .tryAcquire()
                .orElseThrow(() -> new CliException(ExitCode.INTERNAL, "permits with a random name are held"))) {
            permit.ensureValid();
            return Finding.ok("permits", "this store has permits and read-write locks, too");
        } catch (LockStoreException e) {
            return Finding.error(
                    "permits",
                    "no permit can be taken: " + e.getMessage(),
                    "give the user the rights that the documentation of the store lists, or use locks only");
        }
    }

    private static String trialName() {
        return "holdfast-doctor-" + UUID.randomUUID();
    }

    private static long[] measure(LockClient client, String name) throws InterruptedException {
        long began = System.nanoTime();
        long[] took = new long[PAIRS];
        int done = 0;
        while (done < PAIRS && (done == 0 || System.nanoTime() - began < PAIRS_AT_MOST.toNanos())) {
            long start = System.nanoTime();
            client.acquire(name).release();
            took[done++] = System.nanoTime() - start;
        }
        long[] sorted = Arrays.copyOf(took, done);
        Arrays.sort(sorted);
        return sorted;
    }

    private long at(int percent) {
        return pairs[Math.max(0, (pairs.length * percent + 99) / 100 - 1)];
    }

    private String percentile(int percent) {
        return String.format(Locale.ROOT, "%.2f ms", at(percent) / 1e6);
    }

    private long count(Severity severity) {
        return findings.stream().filter(one -> one.severity() == severity).count();
    }

    private String number(Severity severity, String noun) {
        long count = count(severity);
        return count + " " + noun + (count == 1 ? "" : "s");
    }

    private String json(String description, boolean usable) {
        return Json.text(Json.object(
                "store",
                description,
                "usable",
                usable,
                "errors",
                count(Severity.ERROR),
                "warnings",
                count(Severity.WARNING),
                "pairMicros",
                pairs.length == 0
                        ? null
                        : Json.object(
                                "p50", at(50) / 1_000,
                                "p90", at(90) / 1_000,
                                "p99", at(99) / 1_000,
                                "max", at(100) / 1_000),
                "findings",
                findings.stream()
                        .map(one -> Json.object(
                                "severity", one.severity().name().toLowerCase(Locale.ROOT),
                                "subject", one.subject(),
                                "text", one.text(),
                                "advice", one.advice()))
                        .toList()));
    }

    private void print(String description) {
        Output output = Output.of(io);
        output.line(description, Tone.STRONG);
        for (Finding one : findings) {
            Tone tone = switch (one.severity()) {
                case OK -> Tone.GOOD;
                case WARNING -> Tone.WARN;
                case ERROR -> Tone.BAD;
            };
            String severity = tone.of(String.format("%-7s", one.severity()), output.colours());
            io.out().println(severity + "  " + Names.printable(String.format("%-12s %s", one.subject(), one.text())));
            if (!one.advice().isEmpty()) {
                io.out().println(" ".repeat(22) + "do: " + Names.printable(one.advice()));
            }
        }
        output.line(number(Severity.ERROR, "error") + ", " + number(Severity.WARNING, "warning"));
    }
}
