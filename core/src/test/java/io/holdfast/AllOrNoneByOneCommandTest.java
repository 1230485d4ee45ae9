package io.holdfast;

/** The same on a store that takes several names by one command. */
class AllOrNoneByOneCommandTest extends AllOrNoneTest {

    AllOrNoneByOneCommandTest() {
        store.together = true;
    }
}
