package io.holdfast.cli;

import org.jspecify.annotations.Nullable;

/** The end of a command with a sentence for the user and an exit code. */
final class CliException extends RuntimeException {

    private static final long serialVersionUID = 1;

    private final int exitCode;

    CliException(int exitCode, String sentence) {
        this(exitCode, sentence, null);
    }

    CliException(int exitCode, String sentence, @Nullable Throwable cause) {
        super(sentence, cause);
        this.exitCode = exitCode;
    }

    int exitCode() {
        return exitCode;
    }
}
