package io.holdfast;

/** Holds the one logger of the lock engine, so that an operator has one name to set. */
final class Log {

    public static final System.Logger LOG = System.getLogger("io.holdfast.LockClient");

    private Log() {}
}
