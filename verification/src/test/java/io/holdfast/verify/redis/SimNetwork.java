package io.holdfast.verify.redis;

/** How bad the network between simulated processes and a simulated Redis is. */
public final class SimNetwork {

    /** Of commands that meet the end of their connection. */
    public double cuts;

    /** Of commands after which their connection is silent, in one direction or both: nobody says that it has ended. */
    public double silences;

    /** Whether the server reads on, and executes, what was sent on a connection that the client knows to be lost. */
    public boolean executesWhatWasCut;

    public long delayNanosMax = 1_000_000;

    public void becomeFine() {
        cuts = 0;
        silences = 0;
        delayNanosMax = 1_000_000;
    }

    @Override
    public String toString() {
        return "cuts %.2f%s, silences %.3f, delay up to %d ms"
                .formatted(cuts, executesWhatWasCut ? " (and executed)" : "", silences, delayNanosMax / 1_000_000);
    }
}
