package io.holdfast.cli.process;

import java.io.Console;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Describes the terminal of this process, if it has one. */
public final class Terminal {

    private static final Path OWN_STAT = Path.of("/proc/self/stat");

    private Terminal() {}

    /** Returns whether a person watches: standard input and output are a terminal. */
    @SuppressWarnings("SystemConsoleNull") // asked for below
    public static boolean isInteractive() {
        Console console = System.console();
        if (console == null) {
            return false;
        }
        try {
            // From Java 22 on there may be a console without a terminal, and this method to ask.
            return (boolean) Console.class.getMethod("isTerminal").invoke(console);
        } catch (ReflectiveOperationException e) {
            return true;
        }
    }

    /** Returns whether standard error is a terminal. */
    public static boolean isStandardError() {
        try {
            // Java cannot tell: its console is standard input and output.
            return new ProcessBuilder("/bin/sh", "-c", "test -t 2")
                            .redirectError(ProcessBuilder.Redirect.INHERIT)
                            .start()
                            .waitFor()
                    == 0;
        } catch (IOException e) {
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** Returns the line that a person types; null if there is no terminal or its end has come. */
    @SuppressWarnings("SystemConsoleNull") // asked for below
    public static @Nullable String readLine() {
        Console console = System.console();
        return console == null ? null : console.readLine();
    }

    /** Returns how many columns the terminal on standard input has; 0 if that is unknown. */
    public static int columns() {
        try {
            Process stty = new ProcessBuilder("stty", "size")
                    .redirectInput(ProcessBuilder.Redirect.INHERIT)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            String size = new String(stty.getInputStream().readAllBytes(), StandardCharsets.US_ASCII).strip();
            return Integer.parseInt(size.substring(size.indexOf(' ') + 1));
        } catch (IOException | NumberFormatException e) {
            return 0;
        }
    }

    /**
     * Returns whether what is typed at a terminal reaches this process and its children alike: they are in the
     * terminal's foreground process group, which gets Ctrl-C as a whole.
     */
    public static boolean isForeground() {
        try {
            String stat = Files.readString(OWN_STAT, StandardCharsets.ISO_8859_1);
            // pid (name) state parent group session terminal foreground-group …; the name may have blanks in it.
            String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", 7);
            return !fields[4].equals("0") && fields[2].equals(fields[5]);
        } catch (IOException | RuntimeException e) {
            return isInteractive(); // not Linux
        }
    }
}
