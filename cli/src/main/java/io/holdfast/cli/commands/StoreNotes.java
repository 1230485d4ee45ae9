package io.holdfast.cli.commands;

import io.holdfast.LockListener;
import io.holdfast.cli.console.Io;
import io.holdfast.spi.StoreException;
import java.time.Duration;

/**
 * Says what a command that runs for long must tell, although the log is not shown: that the store fails, once until it
 * works again, and that the work of a term had not stopped in time.
 */
final class StoreNotes implements LockListener {

    private final Io io;
    private final String name;

    private boolean fails; // guarded by this

    StoreNotes(Io io, String name) {
        this.io = io;
        this.name = name;
    }

    @Override
    public synchronized void storeFailed(String ofName, String command, StoreException cause) {
        if (!fails) {
            fails = true;
            io.complain(name + ": the store failed, and is tried again (" + cause.getMessage() + ")");
        }
    }

    @Override
    public void acquired(String ofName, long fencingToken, Duration waited) {
        works();
    }

    @Override
    public void renewed(int locks, int failed, Duration took) {
        if (failed < locks) {
            works();
        }
    }

    @Override
    public void reconnected() {
        works();
    }

    private synchronized void works() {
        if (fails) {
            fails = false;
            io.complain(name + ": the store works again");
        }
    }

    @Override
    public void termEnded(String leadership, long fencingToken, Duration led, boolean stoppedInTime) {
        if (!stoppedInTime) {
            io.complain(
                    name + ": the command had not stopped when the lock was released, so another may lead meanwhile");
        }
    }
}
