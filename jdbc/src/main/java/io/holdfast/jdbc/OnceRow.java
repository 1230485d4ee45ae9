package io.holdfast.jdbc;

/**
 * A key of {@link JdbcOnce} that is not done, as it is inserted.
 *
 * @param key the SHA-256 of the caller's key
 * @param name the caller's key, for people
 * @param fingerprint the SHA-256 of the caller's fingerprint
 * @param attempt a random id of this call
 * @param keepSeconds from now until the row may be deleted
 */
record OnceRow(String key, String name, String fingerprint, String attempt, long keepSeconds) {}
