package io.holdfast.cli;

import io.holdfast.cli.commands.ConsoleCommand;
import io.holdfast.cli.commands.DoctorCommand;
import io.holdfast.cli.commands.ExecCommand;
import io.holdfast.cli.commands.InspectCommand;
import io.holdfast.cli.commands.LeaderCommand;
import io.holdfast.cli.commands.LsCommand;
import io.holdfast.cli.commands.ReleaseCommand;
import io.holdfast.cli.commands.TopCommand;
import io.holdfast.cli.commands.WatchCommand;
import io.holdfast.cli.console.CliException;
import io.holdfast.cli.console.ExitCode;
import io.holdfast.cli.console.Io;
import io.holdfast.cli.console.Version;
import java.util.List;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;

/** The command {@code holdfast}. */
@Command(
        name = "holdfast",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        synopsisSubcommandLabel = "COMMAND",
        description = {"A distributed lock: take a name on one machine, and no other machine has it meanwhile.", ""},
        commandListHeading = "%nCommands:%n",
        footer = {
            "",
            "Example: holdfast exec --wait 10s nightly-report -- ./report.sh",
            "Exit codes: 64 usage, 69 store unavailable, 70 internal, 75 not acquired, 76 lease lost,"
                    + " 78 configuration."
        })
public final class Main implements Runnable {

    @Option(
            names = "--debug",
            scope = ScopeType.INHERIT,
            description = "Show stack traces and the log; the same as HOLDFAST_DEBUG=1.")
    private boolean debug;

    private Main() {
        this.debug = "1".equals(System.getenv("HOLDFAST_DEBUG"));
    }

    public static void main(String[] args) {
        Io io = Io.system();
        // Not a plain return: threads of a store's driver must not keep the process alive.
        System.exit(run(io, args));
    }

    static int run(Io io, String... args) {
        return run(io, List.of(), args);
    }

    /**
     * Runs a command and returns the exit code.
     *
     * @param more commands beside those of this module
     */
    public static int run(Io io, List<?> more, String... args) {
        Main main = new Main();
        CommandLine line = new CommandLine(main)
                .addSubcommand(new ExecCommand(io, List.of(args)))
                .addSubcommand(new CommandLine.HelpCommand())
                .addSubcommand(new ConsoleCommand(io))
                .addSubcommand(new DoctorCommand(io))
                .addSubcommand(new InspectCommand(io))
                .addSubcommand(new LeaderCommand(io, List.of(args)))
                .addSubcommand(new LsCommand(io))
                .addSubcommand(new ReleaseCommand(io))
                .addSubcommand(new TopCommand(io))
                .addSubcommand(new WatchCommand(io));
        more.forEach(line::addSubcommand);
        // For shells, not for people: absent from the help.
        CommandLine completion = new CommandLine(new AutoComplete.GenerateCompletion());
        completion.getCommandSpec().usageMessage().hidden(true);
        line.addSubcommand(completion).addSubcommand(new ManPage(io));
        Failures failures = new Failures(io, () -> main.debug);
        return line.setOut(io.out())
                .setErr(io.err())
                // An argument such as @file belongs to the command that exec runs.
                .setExpandAtFiles(false)
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setUsageHelpAutoWidth(true)
                .setParameterExceptionHandler(failures)
                .setExecutionExceptionHandler(failures)
                .setExecutionStrategy(parsed -> {
                    StderrLogs.showAll(main.debug);
                    return new CommandLine.RunLast().execute(parsed);
                })
                .execute(args);
    }

    /** Without a subcommand. */
    @Override
    public void run() {
        throw new CliException(ExitCode.USAGE, "a command is missing (see: holdfast --help)");
    }
}
