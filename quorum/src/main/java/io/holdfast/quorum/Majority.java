package io.holdfast.quorum;

/** Says how many members are more than half of them. */
final class Majority {

    private Majority() {}

    static int of(int members) {
        return members / 2 + 1;
    }
}
