package io.holdfast;

import java.time.Duration;
import java.util.Optional;

/**
 * A name that this client holds or waits for. For people, tools and gauges: it may be out of date when it is read.
 *
 * <pre>{@code
 * for (LocalLock lock : locks.localLocks()) {
 *     if (lock.longestWait().compareTo(ofMinutes(1)) > 0) {
 *         log.warn("{} callers wait for the lock {}", lock.waiting(), lock.name());
 *     }
 * }
 * }</pre>
 *
 * @param name the lock name; for permits {@code permits:NAME}, for a read-write lock {@code read:NAME} or {@code
 *     write:NAME}
 * @param lease this client's present lease on the name, if there is one
 * @param heldFor how long the lease has been held; zero without a lease
 * @param waiting how many threads and stages of this client wait for the name
 * @param longestWait how long the first of them has waited; zero if none waits
 */
public record LocalLock(String name, Optional<Lease> lease, Duration heldFor, int waiting, Duration longestWait) {}
