package io.holdfast.cli.commands;

import io.holdfast.cli.console.Io;
import io.holdfast.console.LockPicture;
import io.holdfast.console.LockWatch;
import java.time.Duration;
import java.util.Collection;

/** Looks once, or as often as a possible deadlock needs. */
final class Watching {

    private static final Duration AGAIN = Duration.ofMillis(500);

    private Watching() {}

    /**
     * Returns a picture without suspected cycles, if that is possible within two periods: a cycle counts if it stands in
     * two cards of each of its clients.
     */
    static LockPicture look(LockWatch watch, Collection<String> names, Io io) throws InterruptedException {
        LockPicture picture = watch.look(names);
        if (picture.suspectedCycles() == 0) {
            return picture;
        }
        Duration patience = picture.period().multipliedBy(2);
        io.complain("there may be a deadlock; looking again for up to " + patience.toSeconds() + " s to be sure");
        long began = System.nanoTime();
        while (picture.suspectedCycles() > 0 && System.nanoTime() - began < patience.toNanos()) {
            Thread.sleep(AGAIN.toMillis());
            picture = watch.look(names);
        }
        return picture;
    }
}
