package io.holdfast.cli.console;

import org.jspecify.annotations.Nullable;

/** The end of a command with a sentence for the user and an exit code. */
public final class CliException extends RuntimeException {

    private static final long serialVersionUID = 1;

    private final int exitCode;

    public CliException(int exitCode, String sentence) {
        this(exitCode, sentence, null);
    }

    public CliException(int exitCode, String sentence, @Nullable Throwable cause) {
        super(sentence, cause);
        this.exitCode = exitCode;
    }

    public int exitCode() {
        return exitCode;
    }
}
