package io.holdfast;

/** The same on a store that takes several names by one command. */
class AllOrNoneByOneCommandTest extends MultiAcquisitionTest {

    AllOrNoneByOneCommandTest() {
        store.together = true;
    }
}
