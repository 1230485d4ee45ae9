package io.holdfast.testkit.torture;

import java.util.List;

/**
 * The servers of a torture, and their faults.
 *
 * @see <a href="https://github.com/holdfast-lock/holdfast/blob/main/docs/verification.md#3-torture">Torture</a>
 */
public interface TortureServers extends AutoCloseable {

    /** Returns the store URI for the workers. */
    String uri();

    /** Returns a description for people. */
    String describe();

    /** Returns all faults of these servers. */
    List<TortureFault> faults();

    /** Ends the servers and removes their data. */
    @Override
    void close();
}
