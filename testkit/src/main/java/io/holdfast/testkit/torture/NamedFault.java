package io.holdfast.testkit.torture;

import java.io.IOException;
import java.util.Random;

/** A fault out of its parts. */
record NamedFault(String name, boolean losesData, Making making) implements TortureFault {

    @Override
    public void make(Random random) throws IOException, InterruptedException {
        making.make(random);
    }
}
