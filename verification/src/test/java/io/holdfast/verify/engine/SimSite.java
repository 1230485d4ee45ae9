package io.holdfast.verify.engine;

import io.holdfast.spi.LockStore;
import java.util.Set;
import java.util.SplittableRandom;

/** The servers of a simulation: what processes connect to, what can go wrong there, and the truth about the locks. */
public interface SimSite {

    /** What one process has of the servers. */
    interface Link {
        LockStore store();

        /** No command is under way. */
        boolean isQuiet();

        void breakConnection();

        /** Breaks the connection to all servers, and allows no new one for this time where the network can do so. */
        default void cutOff(long nanos) {
            breakConnection();
        }

        /** The process has ended; with its machine: then the servers do not notice. */
        void die(boolean silently);

        /** What is left at the store when nobody holds or waits; empty if nothing is. */
        String left();
    }

    /** What the client of a process is called. */
    default String clientId(String processId) {
        return processId;
    }

    Link connect(String processId, SimTime time, SplittableRandom random);

    /** Schedules what goes wrong here in a rough history, beside what goes wrong with processes. */
    void scheduleFaults(SimFaults faults);

    /** The network, and everything that is stopped or cut off, is well from now on. */
    void heal();

    /** Whether a process holds a name, by what the servers know. */
    boolean isHeldBy(String processId);

    void forceRelease(String name);

    /** The history is over, in whatever way. */
    default void end() {}

    /** Whether the stores here have permits. */
    default boolean hasPools() {
        return false;
    }

    /** A new epoch of a name begins. */
    void forget(String name);

    /** Exclusion is not promised between bases of different epochs, for a lease after something was forgotten. */
    int epochOf(String name, long base);

    /** Names that somebody holds or waits for. */
    Set<String> used();

    /** How long one attempt at a lock may last. */
    long attemptNanosMax();

    /** Who died, as far as others have to wait longer for it. */
    enum Vanished {
        NOBODY,
        /** The servers noticed. If it waited for permits, those behind it are only served when one of them polls. */
        NOTICED,
        /** Machines are gone without the servers noticing. */
        SOME,
        /**
         * Among those on it somebody waited for a lease that is shorter than what the server gives a granted client
         * first.
         */
        BRIEF
    }

    /** In a calm history: for how long a lock may be free while somebody waits. */
    long idleNanosMax(Vanished vanished);

    /** How long one message may take. */
    long delayNanosMax();

    /** By how much a process's wall clock may be off. */
    long wallMillisMax();

    /** What kind of network there is, for the timeline. */
    String describe();
}
