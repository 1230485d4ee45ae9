package io.holdfast.testkit.torture;

import java.io.IOException;
import java.util.Random;

/** Something that goes wrong, for a while, and is well again. */
public interface TortureFault {

    /** In a few words, for people. */
    String name();

    /** Lets it happen, and ends it. */
    void make(Random random) throws IOException, InterruptedException;

    /**
     * Whether the store may forget holds by it, so that exclusion is not promised across it. Then everything is in order
     * again when {@link #make} returns: no server that was the master takes itself for it any more.
     */
    default boolean losesData() {
        return false;
    }

    /** What is done to make a fault. */
    @FunctionalInterface
    interface Making {
        void make(Random random) throws IOException, InterruptedException;
    }

    /** A fault by which nothing is forgotten that a lease rests on. */
    static TortureFault of(String name, Making making) {
        return new NamedFault(name, false, making);
    }

    /** A fault by which holds may be forgotten. */
    static TortureFault withLoss(String name, Making making) {
        return new NamedFault(name, true, making);
    }
}
