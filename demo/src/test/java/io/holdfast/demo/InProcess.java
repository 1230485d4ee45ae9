package io.holdfast.demo;

import io.holdfast.cli.console.Io;
import java.io.PrintWriter;
import java.io.StringWriter;

/** A call of the command line within this process. */
record InProcess(int exitCode, String out, String err) {

    static InProcess run(String... args) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        int exitCode = Launcher.run(new Io(new PrintWriter(out, true), new PrintWriter(err, true)), args);
        return new InProcess(exitCode, out.toString(), err.toString());
    }
}
