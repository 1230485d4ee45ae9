package io.holdfast.spring;

/**
 * The callers that a locked method excludes.
 *
 * <pre>{@code
 * @Locked(name = "catalog", mode = LockMode.READ)
 * public List<Price> prices() { … }
 *
 * @Locked(name = "catalog", mode = LockMode.WRITE)
 * public void reload() { … }
 * }</pre>
 */
public enum LockMode {

    /** Every other caller: the lock of the name. It has no connection with the read-write lock of the name. */
    EXCLUSIVE,

    /**
     * Callers that write: the read half of {@link io.holdfast.LockClient#getReadWriteLock the read-write lock} of the
     * name. A caller that waits to write stops new readers.
     */
    READ,

    /** Callers that read or write: the write half of the read-write lock of the name. */
    WRITE
}
