package io.holdfast.verify.quorum;

import io.holdfast.memory.VirtualTime;
import io.holdfast.quorum.QuorumMember;
import io.holdfast.quorum.TokenRegister;
import io.holdfast.quorum.memory.MemoryQuorumNode;
import io.holdfast.spi.StoreContext;
import io.holdfast.verify.engine.SimLine;
import io.holdfast.verify.engine.Weather;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** One server of a simulated quorum: it can crash with its data, with a part or none of them, and be stopped. */
final class SimQuorumNode implements SimLine.Host {

    final MemoryQuorumNode node;
    private final String description;
    final Weather weather;
    private final VirtualTime world;

    /** The lines to it. */
    final List<SimLine> lines = new ArrayList<>();

    /** Registers of schemes that are wrong, by name. */
    final Map<String, TokenRegister> wrongRegisters = new HashMap<>();

    private long downUntilNanos;
    private long stoppedUntilNanos;

    SimQuorumNode(String description, VirtualTime world, Weather weather) {
        this.description = description;
        this.world = world;
        this.weather = weather;
        node = new MemoryQuorumNode(description, world);
        // It has been in use for long.
        try (QuorumMember first = node.connect(new StoreContext("first", world))) {
            var unused = first.admit(0);
        }
    }

    @Override
    public boolean isDown() {
        return world.nanoTime() < downUntilNanos;
    }

    /** While it is stopped, what arrives waits in its sockets; it is executed in the order of arrival then. */
    @Override
    public void receive(Runnable event) {
        long wait = stoppedUntilNanos - world.nanoTime();
        if (wait > 0) {
            world.schedule(wait, () -> receive(event));
        } else if (!isDown()) {
            event.run();
        }
    }

    long now() {
        return world.nanoTime();
    }

    void stop(long nanos) {
        stoppedUntilNanos = Math.max(stoppedUntilNanos, world.nanoTime() + nanos);
    }

    /** Ends and begins again. What is lost is lost before that. */
    void crash(long downNanos) {
        node.restart();
        comeBack(downNanos);
    }

    void crashEmpty(long downNanos) {
        node.restartEmpty();
        wrongRegisters.clear();
        comeBack(downNanos);
    }

    private void comeBack(long downNanos) {
        stoppedUntilNanos = world.nanoTime();
        downUntilNanos = world.nanoTime() + downNanos;
        lines.forEach(SimLine::breakConnection);
    }

    @Override
    public String toString() {
        return description;
    }

    void heal() {
        weather.becomeFine();
        lines.forEach(SimLine::heal);
    }
}
