package io.holdfast.verify.zookeeper;

import io.holdfast.memory.VirtualTime;
import java.util.ArrayDeque;
import java.util.function.LongSupplier;

/** One direction of a connection: nothing is lost or overtaken, but all that is under way is when it is closed. */
final class SimPipe {

    private record Item(long dueNanos, Runnable arrival) {}

    private final VirtualTime world;
    private final SimBlocked blocked;
    private final LongSupplier delayNanos;
    private final LongSupplier blockedUntilNanos;
    private final ArrayDeque<Item> under = new ArrayDeque<>();
    private long lastDueNanos;
    private boolean armed;
    private boolean closed;

    /**
     * A pipe with nothing in it.
     *
     * @param blockedUntilNanos until when nothing arrives, as it is known now; a time that has passed if nothing is in
     *     the way
     */
    SimPipe(VirtualTime world, SimBlocked blocked, LongSupplier delayNanos, LongSupplier blockedUntilNanos) {
        this.world = world;
        this.blocked = blocked;
        this.delayNanos = delayNanos;
        this.blockedUntilNanos = blockedUntilNanos;
    }

    void send(Runnable arrival) {
        if (closed) {
            return;
        }
        lastDueNanos = Math.max(lastDueNanos, world.nanoTime() + delayNanos.getAsLong());
        under.add(new Item(lastDueNanos, arrival));
        if (!armed) {
            arm(lastDueNanos);
        }
    }

    void close() {
        closed = true;
        under.clear();
    }

    private void arm(long atNanos) {
        armed = true;
        world.schedule(atNanos - world.nanoTime(), this::pump);
    }

    private void pump() {
        armed = false;
        while (!under.isEmpty()) {
            long now = world.nanoTime();
            long due = under.element().dueNanos();
            if (due > now) {
                arm(due);
                return;
            }
            long blockedUntil = blockedUntilNanos.getAsLong();
            if (blockedUntil > now) {
                armed = true;
                blocked.until(blockedUntil, this::pump);
                return;
            }
            under.remove().arrival().run();
        }
    }
}
