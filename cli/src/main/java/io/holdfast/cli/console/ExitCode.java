package io.holdfast.cli.console;

/**
 * The exit codes of {@code holdfast} itself, when it does not pass on the exit code of the command that it ran. The
 * numbers are those of sysexits.h.
 */
public final class ExitCode {

    public static final int OK = 0;

    public static final int USAGE = 64;
    public static final int STORE_UNAVAILABLE = 69;

    /** A defect of Holdfast, or something of this machine that it did not expect. */
    public static final int INTERNAL = 70;

    public static final int NOT_ACQUIRED = 75;
    public static final int LEASE_LOST = 76;

    /** {@code doctor} found an error in how the store is set up. */
    public static final int BAD_CONFIGURATION = 78;

    /** As shells do. */
    public static final int NOT_EXECUTABLE = 126;

    public static final int NOT_FOUND = 127;

    /** As shells do: this plus the number of the signal that ended the program. */
    public static final int SIGNAL = 128;

    private ExitCode() {}
}
