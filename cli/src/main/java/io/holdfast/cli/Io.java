package io.holdfast.cli;

import java.io.PrintWriter;
import java.io.StringWriter;

/**
 * Where a command writes.
 *
 * @param out what it was asked for
 * @param err what it has to say about itself
 */
record Io(PrintWriter out, PrintWriter err) {

    /** One line, whatever the text has in it: messages of servers and of Java may have several. */
    void complain(String sentence) {
        err.println("holdfast: " + sentence.strip().replaceAll("\\s*\\R\\s*", "; "));
        err.flush();
    }

    void stackTrace(Throwable problem) {
        StringWriter text = new StringWriter();
        problem.printStackTrace(new PrintWriter(text, true));
        err.print(text);
        err.flush();
    }
}
