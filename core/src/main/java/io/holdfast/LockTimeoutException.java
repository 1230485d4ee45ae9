package io.holdfast;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Thrown when a wait for a lock ended without it, because others held the lock. If the store stopped answering during
 * the wait, the message says for how long it had not answered. Nothing is left behind.
 *
 * <pre>{@code
 * try (Lease lease = locks.acquire("report", LockOptions.defaults().waitAtMost(ofSeconds(10)))) {
 *     write(report);
 * } catch (LockTimeoutException e) {
 *     return "busy, held by " + e.holder().orElse("somebody");
 * }
 * }</pre>
 */
public final class LockTimeoutException extends LockException {

    private static final long serialVersionUID = 1;

    private final List<String> lockNames;
    private final Duration waited;
    private final @Nullable String holder;

    /**
     * Creates an exception; public so that tests can throw it.
     *
     * @param lockNames the names that the caller wanted
     * @param waited how long the caller waited; zero for one attempt
     * @param holder the last holder of the lock, as {@link LockState#holder()} shows it; null if it is not known
     */
    public LockTimeoutException(
            String message, Collection<String> lockNames, Duration waited, @Nullable String holder) {
        super(message, null);
        this.lockNames = List.copyOf(lockNames);
        this.waited = waited;
        this.holder = holder;
    }

    /** Returns the names that the caller wanted, in the order in which they are taken. */
    public List<String> lockNames() {
        return lockNames;
    }

    /** Returns how long the caller waited; zero or nearly so for one attempt. */
    public Duration waited() {
        return waited;
    }

    /**
     * Returns the holder when the store last answered, as {@link LockState#holder()} shows it; empty if it is not
     * known.
     */
    public Optional<String> holder() {
        return Optional.ofNullable(holder);
    }
}
