package io.holdfast.cli;

import io.holdfast.cli.console.Io;
import io.holdfast.cli.console.Version;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Prints the manual page for {@code man}: the help of each command, as it is. For the build of the archive. */
@Command(name = "generate-man", hidden = true, versionProvider = Version.class)
final class ManPage implements Callable<Integer> {

    private final Io io;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    ManPage(Io io) {
        this.io = io;
    }

    @Override
    public Integer call() {
        CommandLine root = spec.root().commandLine();
        StringBuilder page = new StringBuilder(".TH HOLDFAST 1\n.SH NAME\nholdfast \\- a distributed lock\n");
        section(page, "SYNOPSIS AND COMMANDS", root);
        root.getSubcommands().values().stream()
                .filter(command -> !command.getCommandSpec().usageMessage().hidden())
                .forEach(command ->
                        section(page, command.getCommandSpec().qualifiedName().toUpperCase(Locale.ROOT), command));
        io.out().print(page);
        io.out().flush();
        return 0;
    }

    private static void section(StringBuilder page, String title, CommandLine command) {
        page.append(".SH \"").append(title).append("\"\n.nf\n");
        command.getUsageMessage(Ansi.OFF)
                .strip()
                .lines()
                .forEach(line -> page.append("\\&").append(escaped(line)).append('\n'));
        page.append(".fi\n");
    }

    private static String escaped(String line) {
        return line.codePoints()
                .mapToObj(c -> switch (c) {
                    case '\\' -> "\\e";
                    case '-' -> "\\-";
                    case '\'' -> "\\(aq";
                    case '^' -> "\\(ha";
                    case '~' -> "\\(ti";
                    case '`' -> "\\(ga";
                    default -> c < 127 ? Character.toString(c) : String.format(Locale.ROOT, "\\[u%04X]", c);
                })
                .collect(Collectors.joining());
    }
}
