package io.holdfast;

/**
 * Starts and stops the work of a leader.
 *
 * <pre>{@code
 * Leadership leadership = locks.leadership("billing", new LeadershipListener() {
 *     @Override
 *     public void onElected(Term term) {
 *         scheduler.start(term.fencingToken());
 *     }
 *
 *     @Override
 *     public void onRevoked(Term term) {
 *         scheduler.stop();
 *     }
 * });
 * }</pre>
 *
 * <p>For one {@link Leadership}, the two calls alternate strictly, on one thread: first {@link #onElected}, and {@link
 * #onRevoked} after it has returned. No next term begins before both have returned. An exception of either is logged.
 */
@FunctionalInterface
public interface LeadershipListener {

    /**
     * Begins to lead. May return at once, or do all the work of the term: the thread is interrupted when the term is
     * revoked.
     *
     * @throws Exception to give up the term: it is revoked, and the next campaign begins after a pause
     */
    void onElected(Term term) throws Exception;

    /**
     * Stops leading. Called before the lease can end, unless this process was paused or its machine suspended. The next
     * leader is elected when this method has returned, or when {@link LeadershipOptions#stopWithin} has passed since
     * the revocation.
     */
    default void onRevoked(Term term) throws Exception {}
}
