package io.holdfast.cli;

import io.holdfast.cli.console.Io;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;

/**
 * A call of the command line within this process, for what needs no process of its own.
 *
 * @param out what it wrote to standard output
 * @param err what it wrote to standard error
 */
record InProcess(int exitCode, String out, String err) {

    /** Runs a command on a store. */
    static InProcess on(String store, String command, String... args) {
        List<String> words = new ArrayList<>(List.of(command, "--store", store));
        words.addAll(List.of(args));
        return run(words.toArray(String[]::new));
    }

    static InProcess run(String... args) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        int exitCode = Main.run(new Io(new PrintWriter(out, true), new PrintWriter(err, true)), args);
        return new InProcess(exitCode, out.toString(), err.toString());
    }

    List<String> errLines() {
        return err.lines().toList();
    }
}
