package io.holdfast.spring.boot;

/** A setting that was read, but that no client can have. */
final class LockSettingsException extends IllegalStateException {

    private static final long serialVersionUID = 1;

    LockSettingsException(IllegalArgumentException cause) {
        super(cause.getMessage(), cause);
    }
}
