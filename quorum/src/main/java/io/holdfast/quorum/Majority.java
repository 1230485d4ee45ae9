package io.holdfast.quorum;

/** How many are more than half. */
final class Majority {

    private Majority() {}

    static int of(int members) {
        return members / 2 + 1;
    }
}
