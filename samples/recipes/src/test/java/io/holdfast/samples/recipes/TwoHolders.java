package io.holdfast.samples.recipes;

import io.holdfast.Lease;

/** A holder whose lease has ended without its knowledge, as if it had been stopped, and the next holder of the name. */
final class TwoHolders implements AutoCloseable {

    private final Fleet fleet = Fleet.of(2);

    private final String name;
    final Lease old;

    TwoHolders(String name) throws InterruptedException {
        this.name = name;
        old = fleet.node(0).acquire(name);
    }

    /**
     * Takes the name from the old holder, whose client asks the store after a third of the lease: in ten seconds. A
     * release by force would tell the old holder at once.
     */
    Lease next() throws InterruptedException {
        fleet.endHold(name);
        return fleet.node(1).acquire(name);
    }

    @Override
    public void close() {
        fleet.close();
    }
}
