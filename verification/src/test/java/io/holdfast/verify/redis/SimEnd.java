package io.holdfast.verify.redis;

import io.holdfast.memory.VirtualTime;
import io.holdfast.spi.TimeSource;
import java.util.SplittableRandom;

/** The process at the client's end of connections. */
public interface SimEnd {

    VirtualTime world();

    /** The process's own clock. */
    TimeSource time();

    /** Something reaches the process from outside: at once, after its pause, or never. */
    void deliver(Runnable event);

    SplittableRandom random();

    SimNetwork network();
}
