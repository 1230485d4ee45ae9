package io.holdfast.cli.commands;

import io.holdfast.cli.console.Io;
import io.holdfast.console.Cycle;
import io.holdfast.console.LockPicture;
import io.holdfast.console.LockWatch;
import java.time.Duration;
import java.util.Collection;
import java.util.function.Predicate;

/** Looks at the store once, or as often as it takes to confirm a possible deadlock. */
final class Watching {

    private static final Duration AGAIN = Duration.ofMillis(500);

    private Watching() {}

    /**
     * Returns a picture in which each cycle of the wanted names is confirmed or gone, if that is possible within two
     * periods: a cycle counts if it stands in two cards of each of its clients.
     *
     * @param names names that the store is asked about in any case
     * @param wanted which names the user asks for
     */
    static LockPicture look(LockWatch watch, Collection<String> names, Predicate<String> wanted, Io io)
            throws InterruptedException {
        LockPicture picture = watch.look(names);
        if (!isSuspected(picture, wanted)) {
            return picture;
        }
        Duration patience = picture.period().multipliedBy(2);
        io.complain("there may be a deadlock; looking again for up to " + patience.toSeconds() + " s to be sure");
        long began = System.nanoTime();
        while (isSuspected(picture, wanted) && System.nanoTime() - began < patience.toNanos()) {
            Thread.sleep(AGAIN.toMillis());
            picture = watch.look(names);
        }
        return picture;
    }

    /** Returns whether a cycle with one of these names needs another look. */
    static boolean isSuspected(LockPicture picture, Predicate<String> wanted) {
        return picture.suspectedCycles().stream()
                .flatMap(cycle -> cycle.steps().stream())
                .map(Cycle.Step::holds)
                .anyMatch(wanted);
    }
}
