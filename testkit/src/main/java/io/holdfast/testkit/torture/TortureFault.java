package io.holdfast.testkit.torture;

import java.io.IOException;
import java.util.Random;

/** Something that goes wrong, for a while, and is well again. */
public interface TortureFault {

    /** In a few words, for people. */
    String name();

    /** Lets it happen, and ends it. */
    void make(Random random) throws IOException, InterruptedException;

    /** Whether the store may forget holds by it, so that exclusion is not promised across it. */
    default boolean losesData() {
        return false;
    }
}
