package io.holdfast.cli;

import io.holdfast.LeaseLostException;
import io.holdfast.LockStoreException;
import io.holdfast.LockTimeoutException;
import io.holdfast.cli.console.CliException;
import io.holdfast.cli.console.ExitCode;
import io.holdfast.cli.console.Io;
import io.holdfast.cli.console.Similar;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.IExecutionExceptionHandler;
import picocli.CommandLine.IParameterExceptionHandler;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.TypeConversionException;
import picocli.CommandLine.UnmatchedArgumentException;

/** Turns a failure into one line for the user and an exit code. */
final class Failures implements IParameterExceptionHandler, IExecutionExceptionHandler {

    private final Io io;
    private final BooleanSupplier debug;

    Failures(Io io, BooleanSupplier debug) {
        this.io = io;
        this.debug = debug;
    }

    @Override
    public int handleParseException(ParameterException e, String[] args) {
        String command = e.getCommandLine().getCommandSpec().qualifiedName();
        io.complain(sentence(e) + " (see: " + command + " --help)");
        return traced(e, ExitCode.USAGE);
    }

    private static String sentence(ParameterException e) {
        if (e.getCause() instanceof TypeConversionException bad && e.getArgSpec() instanceof OptionSpec option) {
            // The parser's own converter has no word for users.
            String why = String.valueOf(bad.getMessage())
                    .replaceFirst("(?s)^'(.*)' is not an int$", "$1 (expected: a whole number)");
            return option.longestName() + ": " + why;
        }
        CommandLine line = e.getCommandLine();
        if (e instanceof UnmatchedArgumentException unmatched
                && !unmatched.getUnmatched().isEmpty()) {
            String word = unmatched.getUnmatched().get(0);
            if (unmatched.isUnknownOption()) {
                return Similar.to(
                                word.split("=", 2)[0],
                                line.getCommandSpec().optionsMap().keySet())
                        .map(meant -> e.getMessage() + ", did you mean " + meant + "?")
                        .orElse(String.valueOf(e.getMessage()));
            }
            if (!line.getSubcommands().isEmpty()) {
                return noSuchCommand(word, line);
            }
        }
        String said = String.valueOf(e.getMessage());
        // Of the command "help".
        return said.startsWith("Unknown subcommand ")
                ? noSuchCommand(
                        String.valueOf(e.getValue()),
                        line.getCommandSpec().root().commandLine())
                : said;
    }

    private static String noSuchCommand(String word, CommandLine line) {
        String expected = Similar.to(word, shown(line))
                .map(meant -> "did you mean " + meant + "?")
                .orElseGet(() -> "expected: one of " + String.join(", ", shown(line)));
        return word + ": no such command (" + expected + ")";
    }

    /** Returns the names of the commands that the help lists. */
    private static List<String> shown(CommandLine line) {
        return line.getSubcommands().entrySet().stream()
                .filter(command ->
                        !command.getValue().getCommandSpec().usageMessage().hidden())
                .map(Map.Entry::getKey)
                .toList();
    }

    @Override
    public int handleExecutionException(Exception e, CommandLine line, ParseResult parsed) {
        int code = exitCode(e);
        if (code == ExitCode.INTERNAL && !(e instanceof CliException)) {
            io.complain("unexpected " + e + " (--debug shows where)");
        } else {
            String message = String.valueOf(e.getMessage());
            io.complain(message + wayToDriver(message, System.getenv("HOLDFAST_DRIVER")));
        }
        return traced(e, code);
    }

    /** Users of an archive have no class path, but a variable that its launcher reads. */
    static String wayToDriver(String message, @Nullable String variable) {
        if (!message.matches("(?s).* needs the driver .* which is not on the class path")) {
            return "";
        }
        return " (expected: the path of its jar in HOLDFAST_DRIVER"
                + (variable == null || variable.isEmpty() ? ")" : ", which is \"" + variable + "\")");
    }

    private int traced(Exception e, int code) {
        if (debug.getAsBoolean()) {
            io.stackTrace(e);
        }
        return code;
    }

    private static int exitCode(Exception e) {
        if (e instanceof CliException known) {
            return known.exitCode();
        }
        if (e instanceof IllegalArgumentException) {
            return ExitCode.USAGE;
        }
        if (e instanceof LockStoreException) {
            return ExitCode.STORE_UNAVAILABLE;
        }
        if (e instanceof LockTimeoutException) {
            return ExitCode.NOT_ACQUIRED;
        }
        if (e instanceof LeaseLostException) {
            return ExitCode.LEASE_LOST;
        }
        return ExitCode.INTERNAL;
    }
}
