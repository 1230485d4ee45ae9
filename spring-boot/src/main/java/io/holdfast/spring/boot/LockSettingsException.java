package io.holdfast.spring.boot;

/** Reports settings that give no store or no client. Thrown at startup. */
final class LockSettingsException extends IllegalStateException {

    private static final long serialVersionUID = 1;

    private final String wayOut;

    LockSettingsException(String what, String wayOut) {
        super(what);
        this.wayOut = wayOut;
    }

    LockSettingsException(String what, String wayOut, Exception cause) {
        super(what, cause);
        this.wayOut = wayOut;
    }

    LockSettingsException(IllegalArgumentException cause) {
        super(cause.getMessage(), cause);
        boolean module = String.valueOf(cause.getMessage()).endsWith("which is not on the class path");
        this.wayOut = module
                ? "Add that module to the dependencies of the application, in the version of holdfast-core"
                : "Correct holdfast.*, or the LockClientCustomizer that set the value";
    }

    String wayOut() {
        return wayOut;
    }
}
