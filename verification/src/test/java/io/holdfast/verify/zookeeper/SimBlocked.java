package io.holdfast.verify.zookeeper;

import io.holdfast.memory.VirtualTime;
import io.holdfast.spi.TimeSource;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * What cannot continue because a server is stopped, or a way is cut: timers of servers, and what is under way. All of a
 * server goes on at one moment, even when that comes sooner than announced. A leader that commits writes and does not
 * ping has no like among real ones.
 */
final class SimBlocked {

    private static final class Waiting {
        private final Runnable goesOn;
        private final TimeSource.Timer timer;

        Waiting(Runnable goesOn, TimeSource.Timer timer) {
            this.goesOn = goesOn;
            this.timer = timer;
        }
    }

    private final VirtualTime world;
    private final Set<Waiting> waiting = new LinkedHashSet<>();

    SimBlocked(VirtualTime world) {
        this.world = world;
    }

    /** Goes on at that time, or when all is well. */
    void until(long nanos, Runnable goesOn) {
        Waiting[] one = new Waiting[1];
        one[0] = new Waiting(goesOn, world.schedule(nanos - world.nanoTime(), () -> {
            waiting.remove(one[0]);
            goesOn.run();
        }));
        waiting.add(one[0]);
    }

    /** All is well: everything continues now, in the order in which it was blocked. */
    void end() {
        List<Waiting> all = List.copyOf(waiting);
        waiting.clear();
        for (Waiting one : all) {
            one.timer.cancel();
            world.schedule(0, one.goesOn);
        }
    }
}
