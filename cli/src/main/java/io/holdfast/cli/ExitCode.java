package io.holdfast.cli;

/** What {@code holdfast} exits with when it is not the exit code of the command it ran. Numbers as in sysexits.h. */
final class ExitCode {

    static final int OK = 0;

    /** The demonstration found an invariant broken. */
    static final int NOT_HELD = 1;

    static final int USAGE = 64;
    static final int STORE_UNAVAILABLE = 69;

    /** A defect of Holdfast, or something of this machine that it did not expect. */
    static final int INTERNAL = 70;

    static final int NOT_ACQUIRED = 75;
    static final int LEASE_LOST = 76;

    /** As shells do. */
    static final int NOT_EXECUTABLE = 126;

    static final int NOT_FOUND = 127;

    /** As shells do: this plus the number of the signal that ended the program. */
    static final int SIGNAL = 128;

    private ExitCode() {}
}
