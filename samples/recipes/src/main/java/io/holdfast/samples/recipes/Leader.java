package io.holdfast.samples.recipes;

import io.holdfast.Leadership;
import io.holdfast.LeadershipListener;
import io.holdfast.LockClient;
import io.holdfast.Term;

/** Lets one node of the fleet lead: there the duties run, and stop before another node can lead. */
final class Leader implements LeadershipListener {

    /** What the leader does. */
    interface Duties {
        void start(long fencingToken);

        /** Returns when nothing runs any more. */
        void stop();
    }

    private final Duties duties;

    private Leader(Duties duties) {
        this.duties = duties;
    }

    /** Stands for election until the leadership or the client is closed. */
    static Leadership stand(LockClient locks, Duties duties) {
        return locks.leadership("reports", new Leader(duties));
    }

    @Override
    public void onElected(Term term) {
        duties.start(term.fencingToken());
    }

    @Override
    public void onRevoked(Term term) {
        duties.stop();
    }
}
