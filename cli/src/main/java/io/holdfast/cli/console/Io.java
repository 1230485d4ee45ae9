package io.holdfast.cli.console;

import io.holdfast.spi.Names;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.Charset;

/**
 * The streams that a command writes to.
 *
 * @param out receives what the user asked for
 * @param err receives what the command says about itself
 */
public record Io(PrintWriter out, PrintWriter err) {

    public static Io system() {
        // The terminal's, which since Java 18 is not the default one.
        Charset charset = Charset.forName(
                System.getProperty("native.encoding", Charset.defaultCharset().name()));
        return new Io(
                new PrintWriter(new OutputStreamWriter(System.out, charset), true),
                new PrintWriter(new OutputStreamWriter(System.err, charset), true));
    }

    /** Writes one line, whatever the text has in it: messages of servers and of Java may have several. */
    public void complain(String sentence) {
        err.println("holdfast: " + Names.printable(sentence.strip().replaceAll("\\s*\\R\\s*", "; ")));
        err.flush();
    }

    public void stackTrace(Throwable problem) {
        StringWriter text = new StringWriter();
        problem.printStackTrace(new PrintWriter(text, true));
        err.print(text);
        err.flush();
    }
}
