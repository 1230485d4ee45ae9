package io.holdfast.cli.commands;

import io.holdfast.LockClient;
import io.holdfast.cli.console.ExitCode;
import io.holdfast.cli.console.Io;
import io.holdfast.cli.console.Version;
import io.holdfast.cli.screen.Output;
import io.holdfast.cli.view.Glob;
import io.holdfast.cli.view.LockTable;
import io.holdfast.console.LockPicture;
import io.holdfast.console.LockRow;
import io.holdfast.console.LockWatch;
import io.holdfast.console.json.Json;
import io.holdfast.console.json.LockJson;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Predicate;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code holdfast ls [PATTERN]}. */
@Command(
        name = "ls",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        synopsisHeading = "%nUsage: ",
        descriptionHeading = "%n",
        header = "List the locks that are held, waited for, or busy.",
        description = {
            "By longest wait x waiters. It lists what the clients' cards say, each up to a few seconds old. A lock that"
                    + " is held for moments only, at least once a second, is listed without a holder. A lock of another"
                    + " library is listed if a client of Holdfast waits for it. Permits of one name are one row,"
                    + " permits:NAME, with the number held, the limit, and the holders; a read-write lock is one row,"
                    + " read-write:NAME, with its writer or its readers.",
            ""
        },
        footer = {
            "",
            "Flags: DEAD (nobody has heard of the holder's client; when the lock is free), CYCLE (a deadlock: the"
                    + " same threads hold and wait), NO"
                    + " EXPIRY, FOREIGN (no client of Holdfast), NOT RENEWED (a lease with a fixed length).",
            "--json prints one line: locks, clients, cycles (deadlocks),"
                    + " suspectedCycles (a count), possibleCycles, unnamedLocks."
        })
public final class LsCommand implements Callable<Integer> {

    private final Io io;

    @Mixin
    private final StoreOption store = new StoreOption();

    @Option(names = "--json", description = "Print one line of JSON.")
    private boolean json;

    @Parameters(
            arity = "0..1",
            paramLabel = "PATTERN",
            defaultValue = "*",
            description = "Which names, as in 'order:*'; * stands for any text, ? for one character.")
    private String pattern = "*";

    public LsCommand(Io io) {
        this.io = io;
    }

    @Override
    public Integer call() throws InterruptedException {
        Arguments.checkText(List.of(pattern));
        Predicate<String> wanted = Glob.of(pattern);
        LockPicture picture;
        try (LockClient client = store.viewer().build()) {
            picture = Watching.look(new LockWatch(client), List.of(), wanted, io);
        }
        List<LockRow> locks =
                picture.locks().stream().filter(lock -> isWanted(lock, wanted)).toList();
        if (json) {
            io.out().println(Json.text(LockJson.of(picture, locks)));
        } else {
            print(picture, locks);
        }
        return ExitCode.OK;
    }

    /** A pattern is one of lock names, or of those of permits and read-write locks, with their kind or without. */
    private static boolean isWanted(LockRow lock, Predicate<String> wanted) {
        return wanted.test(lock.name()) || wanted.test(lock.plainName());
    }

    private static String clients(int count) {
        return switch (count) {
            case 0 -> "no client of Holdfast uses this store now";
            case 1 -> "the only client says";
            default -> "all " + count + " clients say";
        };
    }

    private void print(LockPicture picture, List<LockRow> locks) {
        if (locks.isEmpty()) {
            io.complain("no lock " + (pattern.equals("*") ? "" : "like " + pattern + " ") + "is held or waited for, as "
                    + clients(picture.clients().size())
                    + " (a lock appears here up to " + picture.period().toSeconds()
                    + " s after it was acquired; inspect NAME asks the store at once)");
            return;
        }
        Output output = Output.of(io);
        output.print(LockTable.of(locks));
        Stream.concat(picture.cycles().stream(), picture.possibleCycles().stream())
                .filter(cycle -> locks.stream().anyMatch(lock -> cycle.contains(lock.name())))
                .forEach(cycle -> {
                    io.out().println();
                    LockTable.drawing(cycle).forEach(line -> output.line(line, LockTable.tone(cycle)));
                });
        if (Watching.isSuspected(picture, Glob.of(pattern))) {
            io.complain("a deadlock was suspected and not confirmed");
        }
        if (picture.unnamedLocks() > 0) {
            io.complain(picture.unnamedLocks() + " more locks are held or waited for: a card has room for the oldest"
                    + " 200 of each kind");
        }
    }
}
