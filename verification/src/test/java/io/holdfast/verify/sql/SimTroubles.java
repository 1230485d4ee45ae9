package io.holdfast.verify.sql;

import java.util.SplittableRandom;

/** How bad the way to the database is, and what statements meet there. */
final class SimTroubles {

    /** Whether each statement is in the timeline, for a history that is played again. */
    static final boolean TELLING = Long.getLong("seed") != null;

    /** Of statements that meet the end of their connection. */
    double cuts;

    /** Whether a statement that was cut off may be executed later all the same. */
    boolean executesWhatWasCut;

    /** Of statements that are executed twice. */
    double duplicates;

    /** How long after the first one a second execution comes. */
    long duplicateNanosMax = 4_000_000_000L;

    /** Of statements that come late by seconds, while their client waits or has given up. */
    double late;

    /** Of statements that take their steps one after the other; the others take all at once. */
    double slow = 0.25;

    long delayNanosMax = 200_000;

    /** How long others may come between the steps of a statement. */
    long stepNanosMax = 20_000;

    SimTroubles(SplittableRandom random, boolean calm) {
        if (!calm) {
            cuts = random.nextInt(3) * 0.02;
            executesWhatWasCut = random.nextBoolean();
            duplicates = random.nextInt(3) * 0.02;
            late = random.nextInt(4) == 0 ? 0.01 : 0;
            slow = 0.25 + random.nextInt(3) * 0.25;
            delayNanosMax = new long[] {1, 5, 50, 300}[random.nextInt(4)] * 1_000_000;
            stepNanosMax = new long[] {1, 5, 50, 300}[random.nextInt(4)] * 1_000_000;
        }
    }

    void duplicateOften() {
        duplicates = 0.2;
        duplicateNanosMax = 150_000_000;
        slow = 1;
        delayNanosMax = 50_000_000;
        stepNanosMax = 50_000_000;
    }

    void slowDown() {
        slow = 1;
        delayNanosMax = 1_000_000_000;
        stepNanosMax = 300_000_000;
    }

    void takeTurns() {
        slow = 1;
        delayNanosMax = 2_000_000;
        stepNanosMax = 2_000_000;
    }

    void executeTwice() {
        duplicates = 0.5;
        duplicateNanosMax = 20_000_000;
    }

    void becomeFine() {
        cuts = 0;
        duplicates = 0;
        late = 0;
        delayNanosMax = 200_000;
        stepNanosMax = 20_000;
    }

    @Override
    public String toString() {
        return "cuts %.2f%s, duplicates %.2f, late %.2f, slow %.2f, delay up to %d us, steps up to %d us"
                .formatted(
                        cuts,
                        executesWhatWasCut ? " but executed" : "",
                        duplicates,
                        late,
                        slow,
                        delayNanosMax / 1_000,
                        stepNanosMax / 1_000);
    }
}
