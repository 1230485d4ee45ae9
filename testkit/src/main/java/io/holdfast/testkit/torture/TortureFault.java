package io.holdfast.testkit.torture;

import java.io.IOException;
import java.util.Random;

/**
 * A fault that lasts for a while and ends.
 *
 * @param name a few words for people
 * @param losesData whether the store may forget holds because of the fault, so that exclusion is not promised across
 *     it. Then everything is in order when {@link #make} returns: no server that was the master still takes itself for
 *     the master
 * @param making begins the fault and ends it
 * @see <a href="https://github.com/holdfast-lock/holdfast/blob/main/docs/verification.md#3-torture">Torture</a>
 */
public record TortureFault(String name, boolean losesData, Making making) {

    /** The code that makes a fault. */
    @FunctionalInterface
    public interface Making {
        void make(Random random) throws IOException, InterruptedException;
    }

    /** Begins the fault and ends it. */
    public void make(Random random) throws IOException, InterruptedException {
        making.make(random);
    }

    /** Returns a fault by which the store forgets nothing that a lease rests on. */
    public static TortureFault of(String name, Making making) {
        return new TortureFault(name, false, making);
    }

    /** Returns a fault by which the store may forget holds. */
    public static TortureFault withLoss(String name, Making making) {
        return new TortureFault(name, true, making);
    }
}
