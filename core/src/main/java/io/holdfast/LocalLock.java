package io.holdfast;

import java.time.Duration;
import java.util.Optional;

/**
 * A name that this client holds or waits for. Old by the time it is read: for people, tools and gauges.
 *
 * @param name the lock name
 * @param lease the lease that is out, if this client holds the name now
 * @param heldFor since when; zero without a lease
 * @param waiting how many threads and stages of this client wait for it
 * @param longestWait how long the first of them has waited; zero without one
 */
public record LocalLock(String name, Optional<Lease> lease, Duration heldFor, int waiting, Duration longestWait) {}
