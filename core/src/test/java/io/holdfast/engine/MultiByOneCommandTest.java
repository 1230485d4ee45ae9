package io.holdfast.engine;

/** The same on a store that takes several names by one command. */
class MultiByOneCommandTest extends MultiAcquisitionTest {

    MultiByOneCommandTest() {
        store.together = true;
    }
}
