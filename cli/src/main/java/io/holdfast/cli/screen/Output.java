package io.holdfast.cli.screen;

import io.holdfast.cli.console.Io;
import io.holdfast.cli.process.Terminal;
import io.holdfast.spi.Names;
import java.util.Map;

/**
 * Standard output as a command fills it once: cut to the width of a terminal and coloured there, plain and whole
 * elsewhere.
 *
 * @param width the columns of the terminal; 0 if it is no terminal or its width is unknown
 */
public record Output(Io io, int width, boolean colours) {

    /** Returns the output of this process. */
    public static Output of(Io io) {
        boolean terminal = Terminal.isInteractive();
        return new Output(io, terminal ? Terminal.columns() : 0, terminal && mayColour(System.getenv()));
    }

    /** Returns whether the user wants colours on a terminal, as no-color.org describes it. */
    static boolean mayColour(Map<String, String> environment) {
        return environment.getOrDefault("NO_COLOR", "").isEmpty()
                && !environment.getOrDefault("TERM", "dumb").equals("dumb");
    }

    /** Prints a table. */
    public void print(Table table) {
        table.lines(width, colours).forEach(io.out()::println);
    }

    /** Prints one line of another author's text. A long line is not cut; the terminal wraps it. */
    public void line(String text) {
        line(text, Tone.PLAIN);
    }

    /** Prints one line in a tone. */
    public void line(String text, Tone tone) {
        io.out().println(tone.of(Names.printable(text), colours));
    }

    /** Prints a line of what something is, and its value. */
    public void field(String what, String value) {
        io.out().printf("%-8s %s%n", what, Names.printable(value));
    }
}
